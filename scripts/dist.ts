/** `npm run dist [-- OPTIONS]`: builds and packages for this platform, or as electron-builder's own options say. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buildParts } from './build.ts'
import { writeLicences } from './licences.ts'
import { root, runStep } from './steps.ts'
import { packagerArguments } from './packager-arguments.ts'

await rm(join(root, 'out'), { recursive: true, force: true })
await buildParts()
await writeLicences()
const packaged = await runStep({
  name: 'package',
  script: 'node_modules/electron-builder/cli.js',
  args: [...packagerArguments(process.env['LATHE_UPDATE_FEED']), ...process.argv.slice(2)],
  limit: 60 * 60_000,
})
process.exitCode = packaged ? 0 : 1
