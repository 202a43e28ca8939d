/** For the kill test: commits without end and says on stdout which commit is durable. Arguments: data folder, session. */
import { openStorage } from './open-storage.ts'
import { delta, sampleHeader, sampleWrite, textItem } from './write-samples.ts'

const [home, id] = process.argv.slice(2) as [string, string]
const storage = await openStorage({ home })
let seq = (await storage.loadSession(id))?.header.lastSeq ?? 0

async function commitNext(): Promise<void> {
  const next = ++seq
  const header = sampleHeader({ id, lastSeq: next, itemCount: next })
  await storage.commit(
    sampleWrite(header, {
      events: [delta(next, 't1', 'text', 0, `part ${next}`)],
      items: [textItem(next, 'x'.repeat(next % 3_000))],
    }),
  )
  process.stdout.write(`${next}\n`)
}

// Several at once, so that kills fall into grouped transactions too.
for (;;) await Promise.all([commitNext(), commitNext(), commitNext()])
