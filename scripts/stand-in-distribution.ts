/**
 * A distribution of Electron in shape only: what electron-builder copies, renames and flips fuses in, without the browser.
 * With it the package can be made, and looked into, where Electron's own binary cannot be had. It cannot be started.
 */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import electron from 'electron/package.json' with { type: 'json' }

/** Marks the fuses in Electron's binary: its version, their number, and one character for each. */
export const fuseMark = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'
/** As Electron ships them, by their order: open for the most part, so that one which is forgotten shows. */
const shippedFuses = '101100011'

/** Writes it to `folder`, for Linux; answers the folder. */
export async function writeStandInDistribution(folder: string): Promise<string> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'resources'), { recursive: true })
  await mkdir(join(folder, 'locales'))
  const fuses = Buffer.concat([Buffer.from(fuseMark), Buffer.from([1, shippedFuses.length]), Buffer.from(shippedFuses)])
  const files: Record<string, string | Buffer> = {
    electron: Buffer.concat([Buffer.from('\x7fELF stand-in '), fuses, Buffer.alloc(64)]),
    'chrome-sandbox': '',
    chrome_crashpad_handler: '',
    version: electron.version,
    LICENSE: 'The licence of Electron stands here.',
    'LICENSES.chromium.html': '<p>The licences of Chromium stand here.</p>',
    'locales/en-US.pak': '',
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  await chmod(join(folder, 'electron'), 0o755)
  return folder
}
