/**
 * `npm run package [-- --as-built]`: the application of this platform as a folder below dist/, and a look into it. Where
 * Electron's binary is not here (`node_modules/electron/dist`), a distribution in shape only takes its place: everything
 * but the browser itself is then as in a release. `--as-built` takes the build as it is.
 */
import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buildParts } from './build.ts'
import { writeLicences } from './licences.ts'
import { checkPackage } from './package-check.ts'
import { writeStandInDistribution } from './stand-in-distribution.ts'
import { root, runStep } from './steps.ts'
import { packagerArguments } from './packager-arguments.ts'

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

if (!process.argv.includes('--as-built')) {
  await rm(join(root, 'out'), { recursive: true, force: true })
  await buildParts()
}
await writeLicences()
const real = join(root, 'node_modules/electron/dist')
const isReal = await exists(real)
if (!isReal && process.platform !== 'linux') {
  console.error(
    'Without Electron’s own binary the package is made on Linux only. Fetch it: node node_modules/electron/install.js',
  )
  process.exit(1)
}
console.log(
  isReal
    ? 'With Electron’s own binary.'
    : 'Electron’s binary is not here: its shape takes its place, and cannot be started.',
)
const distribution = isReal ? real : await writeStandInDistribution(join(root, 'dist/stand-in-electron'))
const packaged = await runStep({
  name: 'package',
  script: 'node_modules/electron-builder/cli.js',
  args: [...packagerArguments(process.env['LATHE_UPDATE_FEED']), '--dir', `-c.electronDist=${distribution}`],
})
if (!packaged) process.exit(1)
if (process.platform === 'linux') {
  const checks = await checkPackage(join(root, 'dist/linux-unpacked'))
  for (const { name, fault, figure } of checks)
    console.log(`${fault === null ? 'ok' : 'FAULT'}: ${name}: ${fault ?? figure}`)
  if (checks.some(({ fault }) => fault !== null)) process.exitCode = 1
}
process.exit()
