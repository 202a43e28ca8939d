/** Very many entries, stored and indexed by storage's own writer, in a few large transactions that wait for no disk. */
import { openDatabase } from '../main/storage/database.ts'
import { packWrite } from '../main/storage/packed.ts'
import { openIndexing } from '../main/storage/search-index.ts'
import { sampleHeader, sampleWrite, textItem, userItem } from '../main/storage/write-samples.ts'
import { openWrites } from '../main/storage/writes.ts'
import { newId } from '../preload/contract/ids.ts'
import type { Item } from '../preload/contract/items.ts'

const entriesPerSession = 1_000
const wordsPerEntry = 30
const dayMs = 24 * 60 * 60_000

/** The first of these stand in most entries, as words of a language do. */
const common =
  'the cart total of and price to in order a is that ship for queue with retry token stream window commit journal branch'.split(
    ' ',
  )
const syllables = 'ba ko ri ten mu la shi dor ve nal pi go ras tu em fa lin que ost jar'.split(' ')
const vocabulary = [
  ...common,
  ...Array.from({ length: 20_000 }, (_, at) =>
    [at % 20, Math.floor(at / 20) % 20, Math.floor(at / 400) % 20, Math.floor(at / 8_000)]
      .map((place) => syllables[place]!)
      .join(''),
  ),
]

/** How often a word comes falls with its place, so that some are everywhere and most are rare. The same numbers each time. */
function writer(): (at: number) => string {
  let state = 42
  const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
  const word = () =>
    vocabulary[Math.min(vocabulary.length - 1, Math.floor(3 * (vocabulary.length / 3) ** random()) - 3)]!
  return (at) => `Entry ${at}. ${Array.from({ length: wordsPerEntry }, word).join(' ')}`
}

/** Fills the data folder `home`, which nothing else may have open, with `count` entries more than `from`, a year of them. */
export function storeEntries(home: string, from: number, count: number): void {
  const { db } = openDatabase(home, false)
  db.pragma('synchronous = OFF')
  db.pragma('wal_autocheckpoint = 20000')
  const writes = openWrites(db)
  const indexNext = openIndexing(db, { docs: 20_000, chars: 64 * 1024 * 1024 })
  const write = writer()
  const begin = Date.now() - 365 * dayMs
  const store = db.transaction((at: number) => {
    const items = Array.from({ length: Math.min(entriesPerSession, from + count - at) }, (_, place): Item => {
      const set = { id: newId(), createdAt: begin + Math.round(((at + place) / (from + count)) * 365 * dayMs) }
      const text = write(at + place)
      return place % 5 === 0 ? userItem(place + 1, text, set) : textItem(place + 1, text, set)
    })
    const header = sampleHeader({
      workspace: '/bench/searched',
      title: `Session ${at}`,
      itemCount: items.length,
      updatedAt: items.at(-1)!.createdAt,
    })
    writes.commit(packWrite(sampleWrite(header, { items })))
  })
  for (let at = from; at < from + count; at += entriesPerSession) {
    store(at)
    if (at % (20 * entriesPerSession) === 0) while (indexNext()) continue
  }
  while (indexNext()) continue
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}
