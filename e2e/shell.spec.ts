/** The desktop application as a person meets it: windows, menus, tray, notifications, links, quitting, crashes. */
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { DesktopApp } from './electron-stand-in/driver.ts'
import { ask, expect, labels, test } from './desktop.ts'
import { faults, mending, task } from './mending.ts'

test('SA-1 a task is typed, approved, and done on disk, in a folder opened with Lathe', async ({ open }) => {
  const desktop = await open({ script: mending('ms') })
  const { lab, app } = desktop
  const window = await desktop.begun()
  expect(lab.asked()).toEqual([])
  await window.send(task)
  await expect(window.approval).toContainText('return n * h;')
  expect(await lab.read('index.js')).toContain(faults.ms.broken)
  expect(
    labels((await app.until('running', ({ tray }) => labels(tray!.menu).includes('Running'))).tray!.menu),
  ).toHaveLength(4)
  await window.approval.getByRole('button', { name: 'Allow once' }).click()
  await expect(window.approval).toContainText('--test')
  await window.approval.getByRole('button', { name: 'Allow once' }).click()
  await window.settled('completed')
  expect(await lab.testsPass()).toBe(true)
  const { sandboxed, dialogs } = await app.until(
    'idle and read',
    ({ tray, badge }) => labels(tray!.menu).includes('Nothing is running') && badge === 0,
  )
  expect({ sandboxed, dialogs }).toEqual({ sandboxed: true, dialogs: [] })
})

test('S-121 reload, a second window and the next start show what each window showed', async ({ open }) => {
  const desktop = await open({ script: [{ repeat: 'always', emit: [{ text: 'An answer.' }] }] })
  const { app } = desktop
  const window = await desktop.begun()
  await window.send('First')
  await window.settled('completed')
  const [first] = (await app.state()).windows
  expect(first!.url).toMatch(/^app:\/\/lathe\/#session=/)

  await app.act('menu.choose', ['View', 'reload'])
  await expect(window.entry('Answer')).toContainText('An answer.')

  await app.act('menu.choose', ['File', 'New window'])
  const { windows } = await app.until('two windows', (state) => state.windows.length === 2)
  await app.act('window.focus', windows[1]!.id)
  const second = await desktop.window(windows[1]!.id)
  await expect(second.entry('Answer')).toContainText('An answer.')
  await second.newSession()
  await second.send('Second')
  await second.settled('completed')

  const apart = await app.until('two sessions', (state) => new Set(state.windows.map(({ url }) => url)).size === 2)
  const before = apart.windows.map(({ url }) => url)
  await app.act('window.move', { id: windows[1]!.id, bounds: { x: 10, y: 20, width: 900, height: 700 } })
  await app.act('app.quit')
  expect(await app.ended).toBe(0)

  desktop.app = await desktop.startAgain()
  const again = await desktop.app.until(
    'restored',
    (state) => state.windows.filter(({ url }) => url !== '').length === 2,
  )
  expect(again.windows.map(({ url }) => url).sort()).toEqual(before.toSorted())
  expect(again.windows.map(({ bounds }) => bounds)).toContainEqual({ x: 10, y: 20, width: 900, height: 700 })
})

test('S-134 a second start for the same data folder hands its folder to the first and ends', async ({ open }) => {
  const desktop = await open()
  await desktop.begun()
  const folder = join(desktop.lab.folder, 'another')
  await desktop.lab.git('worktree', 'add', '--quiet', folder)
  const second = await desktop.startAgain(folder)
  expect(await second.ended).toBe(0)
  const window = await desktop.window()
  await expect(window.page.getByText('another').first()).toBeVisible()
  expect((await desktop.app.state()).windows).toHaveLength(1)
})

test('S-122 Z-159 a link prefills after a question, shows, and never sends', async ({ open }) => {
  const desktop = await open()
  const { lab, app } = desktop
  const window = await desktop.begun()
  const folder = join(lab.folder, 'linked')
  await lab.git('worktree', 'add', '--quiet', folder)
  await app.act('app.openUrl', `lathe://new?workspace=${encodeURIComponent(folder)}&prompt=rm%20-rf%20%2F`)
  const question = window.page.getByRole('alertdialog')
  await expect(question).toContainText(folder)
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(window.message).toHaveValue('')

  await app.act('app.openUrl', `lathe://new?workspace=${encodeURIComponent(folder)}&prompt=rm%20-rf%20%2F`)
  await question.getByRole('button', { name: 'Open folder' }).click()
  // A folder that nobody named here is not trusted by being linked to (Z-4).
  const trust = window.page.getByRole('alertdialog', { name: 'Trust this folder?' })
  await trust.getByRole('button', { name: 'Only read' }).click()
  await expect(window.message).toHaveValue('rm -rf /')
  await expect(window.button('Approval mode: Read only')).toBeVisible()
  await app.act('app.openUrl', 'lathe://settings/models')
  await expect(window.dialog('Settings')).toBeVisible()
  await app.act('app.openUrl', 'lathe://session/unknown')
  await expect(window.page.getByText('This session is not here')).toBeVisible()
  expect(lab.asked()).toEqual([])
})

test('S-177 the menu bar runs the page’s own commands', async ({ open }) => {
  const desktop = await open()
  const { app } = desktop
  const window = await desktop.begun()
  await app.act('menu.choose', ['File', 'Settings'])
  await expect(window.dialog('Settings')).toBeVisible()
  await window.page.keyboard.press('Escape')
  await app.act('menu.choose', ['help', 'Keyboard shortcuts'])
  await expect(window.page.getByRole('dialog')).toContainText('Show all commands')
})

test('S-176 menus, dialogs and title bars are drawn in the theme that was chosen', async ({ open }) => {
  const desktop = await open()
  const { page } = await desktop.window()
  for (const [theme, drawn] of [
    ['dark', 'dark'],
    ['light', 'light'],
    ['contrast', 'dark'],
    ['system', 'system'],
  ]) {
    await ask(page, '/settings/set', { requestId: `r-${theme}`, settings: { 'app.theme': theme } })
    await desktop.app.until(`drawn ${theme}`, (state) => state.theme === drawn)
  }
})

test('S-119 a notification calls to a session in the background; a click shows it and approves nothing', async ({
  open,
}) => {
  const desktop = await open({
    script: [
      { emit: [{ call: { name: 'write_file', args: { path: 'notes.md', content: 'Yes.' } } }] },
      { emit: [{ text: 'Done.' }] },
    ],
  })
  const { lab, app } = desktop
  const window = await desktop.begun()
  await app.act('window.blur')
  await window.send('Write notes')
  const { notifications, badge } = await app.until(
    'called',
    (state) => state.notifications.length > 0 && state.badge > 0,
  )
  expect(notifications).toMatchObject([{ body: 'Needs your approval', state: 'shown' }])
  expect(JSON.stringify(notifications)).not.toContain('notes.md')
  expect(badge).toBe(1)
  await app.act('window.close', (await app.state()).windows[0]!.id)
  await app.until('no window', (state) => state.windows.length === 0)
  await app.act('notification.click', notifications[0]!.id)
  const { windows } = await app.until('a window', (state) => state.windows.some(({ url }) => url.includes('#session=')))
  const shown = await desktop.window(windows[0]!.id)
  await expect(shown.approval).toContainText('notes.md')
  expect((await lab.git('status', '--porcelain')).trim()).toBe('')

  await app.act('window.blur')
  await shown.approval.getByRole('button', { name: 'Allow once' }).click()
  const after = await app.until('finished', (state) => state.notifications.length === 2)
  expect(after.notifications[1]).toMatchObject({ body: 'Finished' })
})

test('S-143 S-144 quitting asks where a turn runs; kept running it stays in the tray, and ends settled', async ({
  open,
}) => {
  const desktop = await open({ script: [{ emit: [{ text: 'Half an answer' }, { hang: true }] }] })
  const { lab, app } = desktop
  const window = await desktop.begun()
  await window.send('Answer at length')
  await expect(window.entry('Answer')).toContainText('Half an answer')
  await app.until('running', ({ tray }) => labels(tray!.menu).includes('Running'))
  // What was said once for the last window does not undo what is said now.
  await ask(window.page, '/settings/set', { requestId: 'r1', settings: { 'app.lastWindow': 'quit' } })

  await app.act('menu.choose', ['File', 'quit'])
  const asked = await app.until('asked', ({ dialogs }) => dialogs.length === 1)
  expect(asked.dialogs[0]!.options).toMatchObject({ buttons: ['Stop all and quit', 'Keep running', 'Cancel'] })
  await app.act('app.quit')
  expect((await app.state()).dialogs).toHaveLength(1)
  await app.act('dialog.answer', { id: asked.dialogs[0]!.id, answer: { response: 1 } })
  await app.until('no window', ({ windows }) => windows.length === 0)

  await app.act('tray.click')
  const back = await app.until('a window', ({ windows }) => windows.some(({ url }) => url !== ''))
  const shown = await desktop.window(back.windows[0]!.id)
  await expect(shown.entry('Answer')).toContainText('Half an answer')
  await expect(shown.button('Stop')).toBeVisible()
  expect((await app.state()).dialogs).toHaveLength(1)

  await app.act('tray.choose', ['Quit'])
  const again = await app.until('asked again', ({ dialogs }) => dialogs.length === 2)
  await app.act('dialog.answer', { id: again.dialogs[1]!.id, answer: { response: 0 } })
  expect(await app.ended).toBe(0)
  const { stdout } = await lab.lathe(['sessions', 'list', '--json'])
  expect(stdout).toContain('Answer at length')
  expect(await stat(join(lab.home, 'host.json')).catch(() => null)).toBeNull()
})

test('K-29 S-142 sleep costs no turn; when the machine goes down or the session ends nobody is asked and it is settled', async ({
  open,
}) => {
  const desktop = await open({
    script: [{ repeat: 'always', emit: [{ text: 'Half an answer' }, { hang: true }] }],
  })
  const { app, lab } = desktop
  const window = await desktop.begun()
  await ask(window.page, '/settings/set', { requestId: 'r1', settings: { 'app.keepAwake': true } })
  expect((await app.state()).staysAwake).toBe(false)
  await window.send('Answer at length')
  await expect(window.entry('Answer')).toContainText('Half an answer')
  await app.until('awake', ({ staysAwake }) => staysAwake)
  await app.act('power', 'suspend')
  await app.act('power', 'resume')
  const log = join(lab.home, 'logs', 'lathe.log')
  await expect.poll(() => readFile(log, 'utf8').catch(() => ''), { timeout: 40_000 }).toContain('The machine slept')
  await expect(window.button('Stop')).toBeVisible()
  await app.act('power', 'shutdown').catch(() => {})
  expect(await app.ended).toBe(0)

  desktop.app = await desktop.startAgain()
  const again = await desktop.window()
  await expect(again.entry('Answer')).toContainText('Half an answer')
  await expect(again.button('Stop')).toBeHidden()

  await again.send('Answer again')
  await expect(again.button('Stop')).toBeVisible()
  await desktop.app.until('running', ({ tray }) => labels(tray!.menu).includes('Running'))
  desktop.app.process.kill('SIGTERM')
  expect(await desktop.app.ended).toBe(0)
  expect(await stat(join(lab.home, 'host.json')).catch(() => null)).toBeNull()
})

test('Z-157 a crashed page comes back with its session while the turn goes on; three crashes get a plain page', async ({
  open,
}) => {
  const desktop = await open({ script: [{ emit: [{ text: 'Half an answer' }, { hang: true }] }] })
  const { app } = desktop
  const window = await desktop.begun()
  await window.send('Answer at length')
  await expect(window.entry('Answer')).toContainText('Half an answer')
  const { id } = (await app.state()).windows[0]!

  for (let crash = 1; crash <= 2; crash++) {
    const crashed = (await desktop.window(id)).page.waitForEvent('crash')
    await app.act('window.crash', id)
    await crashed
    const again = await desktop.window(id)
    await expect(again.entry('Answer')).toContainText('Half an answer')
    await expect(again.button('Stop')).toBeVisible()
  }
  await app.act('window.crash', id)
  await app.until('the crash page', ({ windows }) => windows[0]?.url === 'app://lathe/crashed')
  const { page } = await desktop.window(id)
  await expect(page.locator('pre')).toContainText('reason: crashed')
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect((await desktop.window(id)).entry('Answer')).toContainText('Half an answer')
})

test('S-116 a file dragged in is attached; a dragged folder is opened by its real path', async ({ open }) => {
  const desktop = await open()
  const { lab, app } = desktop
  const window = await desktop.begun()
  const { id } = (await app.state()).windows[0]!
  const file = join(lab.folder, 'numbers.csv')
  await writeFile(file, 'a,b\n1,2\n')
  await app.act('window.drop', { id, paths: [file] })
  await expect(window.page.getByText('numbers.csv')).toBeVisible()

  const folder = join(lab.folder, 'dropped')
  await lab.git('worktree', 'add', '--quiet', folder)
  await app.act('window.drop', { id, paths: [folder] })
  await window.page.getByRole('button', { name: 'Open as a workspace' }).click()
  await expect(window.page.getByText('dropped').first()).toBeVisible()
  expect(await window.page.evaluate(() => self.lathe.pathForFile(new File(['x'], 'numbers.csv')))).toBeNull()
})

test('Z-158 the command line enters by an argument to the application, and Ctrl+C stops its turn', async ({ open }) => {
  const desktop = await open({ script: [{ emit: [{ text: 'Half an answer' }, { hang: true }] }] })
  await desktop.begun()
  const version = await desktop.startAgain('--command-line', '--version')
  expect(await version.ended).toBe(0)
  expect(version.output.trim()).toBe(packageJson.version)
  const run = await desktop.startAgain('--command-line', 'run', '--json', 'Answer at length')
  await expect.poll(() => run.output, { timeout: 40_000 }).toContain('Half an answer')
  run.process.kill('SIGINT')
  expect(await run.ended).toBe(130)
})

test('Z-158 S-122 installed, it opens no port to debuggers, has no developer tools and is given links', async ({
  open,
}) => {
  const desktop = await open({ env: { STAND_IN_PACKAGED: '1' } })
  await desktop.begun()
  expect(await desktop.app.state()).toMatchObject({
    switchesRemoved: ['remote-debugging-port', 'remote-debugging-pipe'],
    protocolClients: ['lathe'],
    windows: [{ devTools: false }],
  })
  await desktop.app.act('app.quit')
  expect(await desktop.app.ended).toBe(0)
  // From source links are left to what is installed.
  const env = { ...desktop.lab.env, STAND_IN_PACKAGED: undefined }
  desktop.app = await DesktopApp.start({ env, cwd: desktop.lab.workspace, args: ['--dev'] })
  await desktop.window()
  expect(await desktop.app.state()).toMatchObject({ protocolClients: [], windows: [{ devTools: true }] })
})
