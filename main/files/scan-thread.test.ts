import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ScanThread } from './scan-thread.ts'

test.skipIf(process.platform === 'win32')(
  'a disk that hangs holds nobody up for ever: who waits is told, and the next look goes on in another thread',
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'lathe-scan-'))
    const [workspace, hung, sound] = [join(root, 'app'), join(root, 'hung'), join(root, 'sound')]
    await mkdir(workspace)
    await mkdir(hung)
    await writeFile(join(workspace, 'a.txt'), 'a')
    // Whoever opens a pipe for reading waits until somebody writes: as on a network disk that has gone.
    const pipe = join(hung, 'state.json')
    await promisify(execFile)('mkfifo', [pipe])
    const thread = new ScanThread({ graceMs: 300 })
    const look = (store: string, ms: number) =>
      thread.update(workspace, store, new Uint8Array(Buffer.from('a.txt\0')), { ms, mayForget: true })
    try {
      const [first, behind] = await Promise.allSettled([look(hung, 100), look(sound, 1_000)])
      expect([first, behind]).toMatchObject([
        { status: 'rejected', reason: { message: 'The thread that looks at workspaces stands still.' } },
        { status: 'rejected' },
      ])
      expect(await look(sound, 10_000)).toMatchObject({ partial: false, tooMany: false })
    } finally {
      const release = await open(pipe, 'r+')
      await thread.end()
      await release.close()
      await rm(root, { recursive: true, force: true })
    }
  },
)
