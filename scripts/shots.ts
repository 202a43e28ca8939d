/**
 * `npm run shots`: pictures of the window in light, dark and high contrast, into shots/. A host with an empty data folder
 * and the demo model is started for it, and the demo workspace is copied, so nothing of the person's own is seen.
 */
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type Page } from 'playwright'
import { requireBrowser, sandboxArguments } from './browser.ts'
import { buildParts, isStale } from './build.ts'
import { root } from './steps.ts'

const looks = [
  { name: 'light', colorScheme: 'light', contrast: 'no-preference' },
  { name: 'dark', colorScheme: 'dark', contrast: 'no-preference' },
  { name: 'contrast', colorScheme: 'dark', contrast: 'more' },
] as const
const turnLimit = 60_000

async function startHost(home: string, workspace: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const host = spawn(process.execPath, [join(root, 'out/main/lathe.js'), 'serve', '--json', '--workspace', workspace], {
    env: { ...process.env, LATHE_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((done) => host.once('close', () => done()))
  const line = await Promise.race([
    new Promise<string>((done) => createInterface({ input: host.stdout }).once('line', done)),
    ended.then(() => ''),
  ])
  if (!line) throw new Error('The host ended before it served anything.')
  const stop = async () => {
    host.kill('SIGTERM')
    await ended
  }
  return { url: (JSON.parse(line) as { url: string }).url, stop }
}

async function shot(page: Page, name: string): Promise<void> {
  for (const look of looks) {
    await page.emulateMedia({ colorScheme: look.colorScheme, contrast: look.contrast, reducedMotion: 'reduce' })
    await page.screenshot({ path: join(root, 'shots', `${name}-${look.name}.png`) })
  }
  console.log(`shots/${name}-{${looks.map((look) => look.name).join(',')}}.png`)
}

async function tour(page: Page, url: string): Promise<void> {
  await page.goto(url)
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.waitFor()
  await shot(page, 'empty')
  await message.fill('Show me around this workspace')
  await page.getByRole('button', { name: 'Send' }).click()
  const transcript = page.getByRole('log', { name: 'Transcript' })
  await transcript.getByRole('article').nth(1).waitFor({ timeout: turnLimit })
  await shot(page, 'running')
  await page
    .getByRole('button', { name: 'Send' })
    .or(page.getByRole('group', { name: 'Approval' }))
    .first()
    .waitFor({ timeout: turnLimit })
  await shot(page, 'session')
  await page.keyboard.press('ControlOrMeta+Shift+P')
  await page.getByRole('dialog', { name: 'Command palette' }).waitFor()
  await shot(page, 'palette')
  await page.keyboard.press('Escape')
  await page.keyboard.press('ControlOrMeta+,')
  await page.getByRole('dialog', { name: 'Settings' }).waitFor()
  await shot(page, 'settings')
}

if (await isStale()) await buildParts()
await mkdir(join(root, 'shots'), { recursive: true })
const folder = await mkdtemp(join(tmpdir(), 'lathe-shots-'))
const home = join(folder, 'home')
const workspace = join(folder, 'demo-workspace')
try {
  await mkdir(home)
  await writeFile(
    join(home, 'config.json'),
    JSON.stringify({ providers: { demo: { kind: 'demo' } }, model: 'demo/demo' }),
  )
  await cp(join(root, 'assets/demo-workspace'), workspace, { recursive: true })
  const host = await startHost(home, workspace)
  const browser = await chromium.launch({ executablePath: await requireBrowser(), args: sandboxArguments() })
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: 2 })
    await tour(page, host.url)
  } finally {
    await browser.close()
    await host.stop()
  }
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
}
