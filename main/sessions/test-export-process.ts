/** For tests: a process of its own that exports a session of a data folder as JSON, so that its memory can be bounded. */
import { open } from 'node:fs/promises'
import { openStorage } from '../storage/open-storage.ts'
import { Exports } from './exports.ts'

const [home, sessionId, path] = process.argv.slice(2) as [string, string, string]
const storage = await openStorage({ home, readOnly: true })
const { header } = (await storage.loadSession(sessionId))!
const exports = new Exports({ storage, sessions: { open: async () => ({ header }) as never } })
const file = await open(path, 'wx')
for (let part = 0; ; part++) {
  const { text, last } = await exports.part({ sessionId, exportId: 'one', part, format: 'json' })
  await file.write(text)
  if (last) break
}
await file.close()
await storage.close()
