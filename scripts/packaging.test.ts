/** What the packaged application is made of, checked without packaging it (that needs Electron's binary). */
import { glob, readdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { applicationId, icons } from '../main/shell/identity.ts'
import packageJson from '../package.json' with { type: 'json' }
import { external } from '../vite.main.config.ts'
import { isForeign } from './package-check.ts'
import { packagerArguments } from './packager-arguments.ts'

const root = resolve(import.meta.dirname, '..')
const require = createRequire(import.meta.url)
const fromBuilder = createRequire(require.resolve('electron-builder/package.json'))

type Configuration = {
  appId: string
  files: string[]
  electronFuses: Record<string, boolean>
  linux: { icon: string; syncDesktopName: boolean }
  mac: { icon: string; hardenedRuntime: boolean; entitlements: string }
  win: { icon: string; verifyUpdateCodeSignature: boolean }
}

async function configuration(): Promise<Configuration> {
  const { load } = createRequire(fromBuilder.resolve('app-builder-lib/package.json'))('js-yaml')
  return load(await readFile(join(root, 'electron-builder.yml'), 'utf8'))
}

async function validate(config: unknown): Promise<void> {
  const folder = dirname(fromBuilder.resolve('app-builder-lib/package.json'))
  const { validateConfiguration } = require(join(folder, 'out/util/config/config.js'))
  await validateConfiguration(config, { isEnabled: false, add: () => undefined })
}

test('the packager accepts the configuration, and would refuse a misspelt one', async () => {
  const config = await configuration()
  await validate(config)
  await expect(validate({ ...config, electronFuses: { runAsNod: false } })).rejects.toThrow(/electronFuses/)
  await expect(validate({ ...config, asarUnpck: [] })).rejects.toThrow(/asarUnpck/)
})

test('Z-158 every fuse is set, and set tight', async () => {
  expect((await configuration()).electronFuses).toEqual({
    runAsNode: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    enableCookieEncryption: true,
    loadBrowserProcessSpecificV8Snapshot: false,
    grantFileProtocolExtraPrivileges: false,
    resetAdHocDarwinSignature: true,
  })
})

test('what the build leaves outside is what the package brings along', async () => {
  const { files } = await configuration()
  const packages = new Set(external.filter((name) => name !== 'electron').map((name) => name.split('/')[0]))
  const kept = /!\(([^)]+)\)/.exec(files.find((pattern) => pattern.startsWith('!node_modules/!(')) ?? '')?.[1]
  expect(new Set(kept?.split('|'))).toEqual(packages)
})

test('the pictures the shell shows of itself come along, each in every size a screen may ask for', async () => {
  const { files } = await configuration()
  const packed = new Set<string>()
  for (const pattern of files.filter((one) => one.startsWith('assets/icons/')))
    for await (const path of glob(pattern, { cwd: root })) packed.add(path)
  const shown = (['linux', 'darwin', 'win32'] as const).flatMap((platform) => Object.values(icons(platform)))
  for (const path of shown) if (path !== null) expect(packed).toContain(path)
  expect(packed).toContain('assets/icons/trayTemplate@2x.png')
})

test('windows, links and notifications find the installed application by one name', async () => {
  const { appId, linux } = await configuration()
  expect(appId).toBe(applicationId)
  // Electron names its windows after the one, the packager the menu entry after both.
  expect(packageJson.desktopName).toBe(`${applicationId}.desktop`)
  expect(linux.syncDesktopName).toBe(true)
})

test('what has no place in the archive is told from what has', () => {
  const own = `${process.platform}-${process.arch}`
  const other = own === 'linux-x64' ? 'darwin-arm64' : 'linux-x64'
  for (const path of [
    'out/main/main.js.map',
    'main/main.ts',
    'node_modules/node-pty/lib/terminal.test.js',
    'node_modules/x/test/a.js',
    `node_modules/node-pty/prebuilds/${other}/pty.node`,
    `node_modules/better-sqlite3/prebuilds/${other}.node`,
    `node_modules/@vscode/ripgrep-${other}/bin/rg`,
  ])
    expect([path, isForeign(path)]).toEqual([path, true])
  for (const path of [
    'out/main/main.js',
    'assets/demo-workspace/test/a.test.js',
    'node_modules/better-sqlite3/lib/index.js',
    `node_modules/better-sqlite3/prebuilds/${own}.node`,
    `node_modules/@vscode/ripgrep-${own}/bin/rg`,
  ])
    expect([path, isForeign(path)]).toEqual([path, false])
})

test('the macOS application is hardened, and loosened for compiled code alone', async () => {
  const { mac, win } = await configuration()
  expect(mac.hardenedRuntime).toBe(true)
  expect(win.verifyUpdateCodeSignature).toBe(true)
  const granted = [...(await readFile(join(root, mac.entitlements), 'utf8')).matchAll(/<key>([^<]+)<\/key>/g)]
  expect(granted.map(([, key]) => key)).toEqual(['com.apple.security.cs.allow-jit'])
})

test('the icons exist in every format and none is too big to keep in the repository', async () => {
  const { linux, mac, win } = await configuration()
  const names = [mac.icon, win.icon, ...(await readdir(join(root, linux.icon))).map((name) => join(linux.icon, name))]
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(root, name))).size))
  expect(Math.min(...sizes)).toBeGreaterThan(0)
  expect(Math.max(...sizes)).toBeLessThan(1_000_000)
  expect(names).toContain(join(linux.icon, '512x512.png'))
  expect((await readFile(join(root, mac.icon))).toString('latin1', 0, 4)).toBe('icns')
  expect((await readFile(join(root, win.icon))).readUInt16LE(2)).toBe(1)
})

test('Z-227 a release looks for updates where it was told to over https, and otherwise nowhere', () => {
  expect(packagerArguments(undefined).join(' ')).not.toContain('publish.')
  expect(packagerArguments('')).toEqual(packagerArguments(undefined))
  expect(packagerArguments('https://updates.example/lathe')).toEqual([
    ...packagerArguments(undefined),
    '-c.publish.provider=generic',
    '-c.publish.url=https://updates.example/lathe',
  ])
  for (const address of ['http://updates.example', 'updates.example', 'https://a@updates.example', 'https://x/?y'])
    expect(() => packagerArguments(address)).toThrow('https')
})
