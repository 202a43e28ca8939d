/** The person's terminals in the window: tabs, splits, reload, copy and paste, links, search, marks, endings. */
import type { Locator, Page } from '@playwright/test'
import { expect, type Desk, type DeskOptions, type LatheWindow, test } from './window.ts'

/** A window whose terminals are drawn as elements, so that their rows can be read; the GPU draws the same. */
async function withTerminal(open: (options?: DeskOptions) => Promise<Desk>, options: DeskOptions = {}): Promise<Desk> {
  const desk = await open({ ...options, env: { SHELL: '/bin/bash', PS1: '> ', ...options.env } })
  const { page } = desk.window
  await desk.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await desk.context.addInitScript(() => {
    const get = HTMLCanvasElement.prototype.getContext
    HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string, ...rest: unknown[]) {
      return kind === 'webgl2' ? null : Reflect.apply(get, this, [kind, ...rest])
    } as typeof get
  })
  await page.reload()
  await expect(desk.window.button('New session').first()).toBeVisible()
  await desk.window.command('New terminal')
  await expect(rows(desk.window).filter({ hasText: prompt })).toHaveCount(1)
  return desk
}

const prompt = /[$#>]\s*$/
const rows = ({ terminal }: LatheWindow): Locator => terminal.locator('.xterm-rows > div')
const row = (window: LatheWindow, text: string | RegExp): Locator =>
  rows(window).filter({ hasText: typeof text === 'string' ? new RegExp(`^${text}\\s*$`) : text })
const keyboard = ({ terminal }: LatheWindow): Locator => terminal.locator('.xterm-helper-textarea')

async function run(window: LatheWindow, line: string): Promise<void> {
  await keyboard(window).last().focus()
  await window.page.keyboard.type(line)
  await window.page.keyboard.press('Enter')
}

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

/** As the browser hands over what is on the clipboard. */
async function paste(window: LatheWindow, text: string): Promise<void> {
  await keyboard(window)
    .last()
    .evaluate((element, pasted) => {
      const data = new DataTransfer()
      data.setData('text/plain', pasted)
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
    }, text)
}

test('X-801 tabs are added, named, put in order, split and closed, and a reload finds them so', async ({ open }) => {
  const { window } = await withTerminal(open)
  const { page, terminal } = window
  const tabs = terminal.getByRole('tab')
  const name = async (as: string) => {
    await terminal.getByRole('tab', { selected: true }).press('F2')
    await terminal.getByRole('textbox', { name: 'Terminal name' }).fill(as)
    await page.keyboard.press('Enter')
    await expect(terminal.getByRole('tab', { selected: true })).toHaveText(as)
  }
  await name('first')
  await terminal.getByRole('button', { name: 'New terminal', exact: true }).click()
  await expect(tabs).toHaveCount(2)
  await name('second')
  await terminal.getByRole('button', { name: 'Split terminal' }).click()
  await expect(terminal.getByRole('tabpanel')).toHaveCount(2)
  // The new one has the keyboard.
  await expect(terminal.getByRole('tabpanel').nth(1).locator('.xterm-helper-textarea')).toBeFocused()
  await name('third')

  await terminal.getByRole('tab', { name: 'third' }).press('Shift+ArrowLeft')
  await expect(tabs).toHaveText(['first', 'third', 'second'])
  await terminal.getByRole('tab', { name: 'first' }).dragTo(terminal.getByRole('tab', { name: 'second' }))
  await expect(tabs).toHaveText(['third', 'second', 'first'])
  await page.reload()
  await expect(tabs).toHaveText(['third', 'second', 'first'])
  await expect(terminal.getByRole('tab', { selected: true })).toHaveText('third')
  await expect(terminal.getByRole('tabpanel')).toHaveCount(2)
  await terminal.getByRole('tab', { name: 'third' }).press('Delete')
  await expect(tabs).toHaveText(['second', 'first'])
  await expect(terminal.getByRole('tabpanel')).toHaveCount(1)
})

test('X-805 XA-34 a reload shows the same screen and scrollback, and typing goes on', async ({ open }) => {
  const { window } = await withTerminal(open)
  await run(window, 'seq 1 20000')
  await expect(row(window, '20000')).toBeVisible()
  await window.page.reload()
  await expect(row(window, '20000')).toBeVisible()
  await keyboard(window).focus()
  await window.command('Select all in terminal')
  await window.command('Copy from terminal')
  await expect.poll(() => clipboard(window.page)).toContain('20000')
  const numbers = (await clipboard(window.page))
    .split('\n')
    .filter((line) => /^\d+$/.test(line))
    .map(Number)
  expect(numbers.length).toBeGreaterThanOrEqual(4_900)
  expect(numbers.every((number, at) => at === 0 || number === numbers[at - 1]! + 1)).toBe(true)
  await run(window, 'echo o""k')
  await expect(row(window, 'ok')).toBeVisible()
})

test('X-809 a copy rejoins wrapped lines; Ctrl+C copies a selection, and interrupts without one', async ({ open }) => {
  const { window } = await withTerminal(open)
  const { page } = window
  const long = 'x'.repeat(300)
  await run(window, `printf 'x%.0s' $(seq 300); echo; echo 'short  '`)
  await expect(row(window, 'short')).toBeVisible()
  await window.command('Select all in terminal')
  await keyboard(window).focus()
  await page.keyboard.press('Control+c')
  await expect.poll(() => clipboard(page)).toContain(`\n${long}\nshort\n`)
  await run(window, 'sleep 300')
  await expect(window.terminal.getByRole('tab')).toContainText('sleep')
  await page.keyboard.press('Control+c')
  await run(window, 'echo ba""ck')
  await expect(row(window, 'back')).toBeVisible()
})

test('X-810 XA-36 pasted text cannot end bracketed paste; several lines are asked about; too much is refused', async ({
  open,
}) => {
  const { window } = await withTerminal(open)
  const { page, terminal } = window
  await paste(window, 'a\u001b[201~rm -rf x\n')
  await expect(row(window, /a\[201~rm -rf x/)).toBeVisible()
  await expect(terminal).not.toContainText('not found')
  await page.keyboard.press('Control+c')

  await paste(window, 'echo one\necho two\necho three')
  const asked = page.getByRole('alertdialog', { name: 'Paste 3 lines?' })
  await asked.getByRole('button', { name: 'Cancel' }).click()
  await expect(row(window, /echo one/)).toBeHidden()
  await paste(window, 'echo one\necho two\necho three')
  await asked.getByRole('checkbox', { name: 'Do not ask again in this terminal' }).click()
  await asked.getByRole('button', { name: 'Paste', exact: true }).click()
  await expect(keyboard(window)).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(row(window, 'three')).toBeVisible()
  await paste(window, 'echo four\necho five')
  await page.keyboard.press('Enter')
  await expect(row(window, 'five')).toBeVisible()
  await expect(asked).toBeHidden()

  await paste(window, 'y'.repeat(5 * 1024 * 1024 + 1))
  await expect(page.getByText('Too much to paste')).toBeVisible()
})

test('X-811 a file that the output names opens at its line and column, from the shell’s own folder', async ({
  open,
}) => {
  const { window } = await withTerminal(open)
  const { page, inspector } = window
  await window.newSession()
  await run(window, 'cd test && echo parse.test.js:3:2 nothere.js:1')
  const named = row(window, /^parse\.test\.js:3:2 nothere/)
  await expect(named).toBeVisible()
  const box = (await named.boundingBox())!
  const at = { x: box.x + 8, y: box.y + box.height / 2 }
  await page.mouse.move(at.x, at.y)
  await expect(window.terminal.getByText('+click to open test/parse.test.js, line 3, column 2')).toBeVisible()
  await page.mouse.click(at.x, at.y)
  await expect(inspector.getByRole('tab', { name: 'Changes', selected: true })).toBeVisible()
  await page.keyboard.down('Control')
  await page.mouse.click(at.x, at.y)
  await page.keyboard.up('Control')
  await expect(inspector.getByRole('tab', { name: 'Files', selected: true })).toBeVisible()
  const file = inspector.getByRole('region', { name: 'test/parse.test.js' })
  await file.getByRole('textbox', { name: 'Text of test/parse.test.js' }).focus()
  await page.keyboard.type('Z')
  await expect(file.locator('.view-line').filter({ hasText: /^.Z/ })).toHaveCount(1)
})

test('X-813 XA-37 closing asks while something runs, naming it; what ended stays with its code and can be restarted', async ({
  open,
}) => {
  const { window } = await withTerminal(open)
  const { page, terminal } = window
  await run(window, 'sleep 300')
  await expect(terminal.getByRole('tab')).toContainText('sleep')
  await terminal.getByRole('button', { name: 'Close terminal' }).click()
  const asked = page.getByRole('alertdialog')
  await expect(asked).toContainText('sleep is still running in this terminal')
  await asked.getByRole('button', { name: 'Cancel' }).click()
  await keyboard(window).focus()
  await page.keyboard.press('Control+c')
  await expect(terminal.getByRole('tab')).toContainText('bash')

  await run(window, 'sleep 2.1; exit 3')
  await expect(terminal.getByRole('tab')).toContainText('exit 3')
  await expect(terminal).toContainText('Ended with code 3. Enter restarts, Esc closes.')
  await keyboard(window).focus()
  await page.keyboard.press('Enter')
  await expect(terminal.getByRole('tab')).toHaveText(['bash'])
  await run(window, 'echo a""gain')
  await expect(row(window, 'again')).toBeVisible()
  await terminal.getByRole('button', { name: 'Close terminal' }).click()
  await expect(asked).toBeHidden()
  await expect(terminal).toContainText('No terminal is open')
})

test('X-802 X-814 XA-37 a profile is made, cannot start, says why once, and another shell takes its place', async ({
  open,
}) => {
  const { lab, window } = await withTerminal(open)
  const { page, terminal } = window
  await terminal.getByRole('button', { name: 'New terminal with…' }).click()
  await page.getByRole('menuitem', { name: 'Terminal settings…' }).click()
  const settings = window.dialog('Settings')
  const make = async (name: string, program: string, args = '', env = '') => {
    await settings.getByRole('button', { name: 'Add profile' }).click()
    const form = settings.getByRole('form', { name: 'New profile' })
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
    await form.getByRole('textbox', { name: 'Program' }).fill(program)
    await form.getByRole('textbox', { name: 'Arguments, one a line' }).fill(args)
    await form.getByRole('textbox', { name: 'Variables, NAME=value' }).fill(env)
    await form.getByRole('button', { name: 'Add' }).click()
    await expect(form).toBeHidden()
  }
  await make('Gone', '/nonexistent')
  await make(
    'Greeter',
    '/bin/sh',
    `-c\necho "$GREETING" | tee -a ${lab.folder}/starts; sleep 600`,
    'GREETING=hello there',
  )
  await make('Broken', '/bin/sh', `-c\necho no luck | tee -a ${lab.folder}/broken; exit 4`)
  await page.keyboard.press('Escape')
  const openWith = async (profile: string) => {
    await terminal.getByRole('button', { name: 'New terminal with…' }).click()
    await page.getByRole('menuitem', { name: profile }).click()
  }
  await openWith('Greeter')
  await expect(row(window, 'hello there')).toBeVisible()
  await openWith('Broken')
  await expect(terminal.getByRole('alert')).toContainText('/bin/sh ended at once with exit code 4.')
  await expect(row(window, 'no luck')).toBeVisible()
  await openWith('Gone')
  await expect(terminal.getByRole('alert')).toContainText('/nonexistent could not be started.')
  await expect(terminal.getByRole('tab', { selected: true })).toContainText('failed')
  await terminal.getByRole('button', { name: 'Choose another shell' }).click()
  await page.getByRole('menuitem', { name: 'Greeter' }).click()
  await expect(terminal.getByRole('tab', { name: 'Gone' })).toBeHidden()
  await expect.poll(() => lab.read('../starts')).toBe('hello there\nhello there\n')
  expect(await lab.read('../broken')).toBe('no luck\n')
})

test('X-816 text is found in the scrollback, cleared for good, and what is typed brings the end into view', async ({
  open,
}) => {
  const { window } = await withTerminal(open)
  const { page, terminal } = window
  await run(window, 'seq 1 400; echo needle; seq 1 400; echo nee""dle')
  await expect(row(window, 'needle')).toBeVisible()
  await page.keyboard.press('Control+Shift+F')
  const find = terminal.getByRole('search', { name: 'Find in terminal' })
  await find.getByRole('textbox').fill('^needle$')
  await expect(find.getByRole('status')).toHaveText('Nothing found')
  await find.getByRole('button', { name: 'Regular expression' }).click()
  await expect(find.getByRole('status')).toHaveText(/^\d of 2$/)
  await page.keyboard.press('Escape')
  await find.getByRole('textbox').focus()
  await page.keyboard.press('Escape')
  await expect(find).toBeHidden()

  for (let pages = 0; pages < 12; pages += 1) await page.keyboard.press('Shift+PageUp')
  await expect(row(window, 'needle')).toBeHidden()
  await keyboard(window).focus()
  await page.keyboard.type('x')
  await expect(row(window, 'needle')).toBeVisible()
  await page.keyboard.press('Backspace')

  await window.command('Clear terminal')
  await expect(row(window, 'needle')).toBeHidden()
  await page.reload()
  await expect(rows(window).filter({ hasText: prompt })).toHaveCount(1)
  await expect(row(window, /^\d+\s*$/)).toHaveCount(0)

  const height = async () => (await rows(window).first().boundingBox())!.height
  const before = await height()
  await window.command('Larger terminal text')
  await window.command('Larger terminal text')
  await expect.poll(height).toBeGreaterThan(before)
})

test('X-816 with a screen reader new output is said as text, a flood only counted, and rows can be read', async ({
  open,
}) => {
  const { window } = await withTerminal(open)
  const { page, terminal } = window
  await terminal.getByRole('button', { name: 'New terminal with…' }).click()
  await page.getByRole('menuitem', { name: 'Terminal settings…' }).click()
  await window.dialog('Settings').getByRole('switch', { name: 'Offer output to a screen reader' }).click()
  await page.keyboard.press('Escape')
  await expect(window.dialog('Settings')).toBeHidden()
  await expect(terminal.locator('.live-region')).toHaveCount(1)
  const said = terminal.getByRole('status', { name: 'Terminal output' })
  await run(window, 'echo spo""ken')
  await expect(said).toContainText('spoken')
  await run(window, 'seq 1 500')
  await expect(said).toContainText(/\d+ more lines\./)
  await expect(said).toContainText('500')
  await expect(terminal.getByRole('listitem').filter({ hasText: '500' })).toHaveCount(1)
  await expect(terminal.locator('.live-region')).toHaveAttribute('aria-live', 'off')
})

test('X-817 XA-38 a selection goes to the message as a chip with its origin, unwrapped, and nothing is sent', async ({
  open,
}) => {
  const desk = await withTerminal(open)
  const { window, lab } = desk
  const { page } = window
  await window.newSession()
  await run(window, `printf 'z%.0s' $(seq 200); echo`)
  await expect(row(window, /^z+$/).first()).toBeVisible()
  await window.command('Select all in terminal')
  await window.command('Send terminal selection to the agent')
  const chips = page.getByRole('list', { name: 'Attachments' })
  await expect(chips.getByRole('listitem')).toHaveCount(1)
  await expect(chips).toContainText('Terminal selection, bash in workspace')
  await expect(window.message).toBeFocused()
  expect(lab.asked()).toHaveLength(0)
  await chips.getByRole('button', { name: /Show in message/ }).click()
  await expect(window.message).toHaveValue(
    new RegExp(`From the terminal "bash" in ${lab.workspace}:\n\n[^]*${'z'.repeat(200)}`),
  )
})

test('X-818 commands are marked, walked through and copied, also after a reload', async ({ open }) => {
  const { window } = await withTerminal(open)
  const { page, terminal } = window
  const dots = terminal.locator('.command-dot')
  // What is typed before the prompt is back stands in the output of what still runs.
  await run(window, 'seq 1 120')
  await expect(row(window, /^120$/)).toBeVisible()
  await expect(row(window, /[$#]\s*$/)).toBeVisible()
  await run(window, 'cat /nonexistent')
  await expect(terminal.locator('.command-dot.is-failed')).toBeVisible()
  await run(window, 'printf "no line end"')
  await expect(dots.locator('visible=true')).toHaveCount(2)
  await expect(terminal.locator('.command-dot.is-failed')).toHaveAttribute('title', /^Exit 1, /)

  const walk = async () => {
    await keyboard(window).focus()
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('Control+ArrowUp')
    await expect(row(window, /seq 1 120$/)).toBeVisible()
    await expect(terminal.getByRole('status', { name: 'Terminal output' })).toContainText('seq 1 120. Exit 0')
    await window.command('Copy output of the last command')
    const numbers = Array.from({ length: 120 }, (_, at) => `${at + 1}`).join('\n')
    await expect.poll(() => clipboard(page)).toBe(numbers)
    await keyboard(window).focus()
    await page.keyboard.press('Control+ArrowDown')
    await page.keyboard.press('Control+ArrowDown')
    await page.keyboard.press('Control+ArrowDown')
    await expect(row(window, /^no line end/)).toBeVisible()
    await window.command('Copy output of the last command')
    await expect.poll(() => clipboard(page)).toBe('no line end')
  }
  await walk()
  await page.reload()
  await expect(dots.locator('visible=true')).not.toHaveCount(0)
  await walk()

  await window.newSession()
  await terminal.locator('.xterm-screen').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Send last command to agent' }).click()
  await expect(page.getByRole('list', { name: 'Attachments' })).toContainText('Terminal command, bash in workspace')
})
