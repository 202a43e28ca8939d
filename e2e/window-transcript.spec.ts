/** What the entries of a transcript are and do: opened and folded, chosen from, taken back, kept in focus. */
import { mending } from './mending.ts'
import { expect, type LatheWindow, test } from './window.ts'

const says = (text: string) => ({ emit: [{ text }] })
const calls = (name: string, args: Record<string, unknown>) => ({ call: { name, args } })

/** Expects these names in the menu of an entry. */
async function hasMenu(window: LatheWindow, label: string, names: string[]): Promise<void> {
  await window.entry(label).last().click({ button: 'right' })
  await expect(window.page.getByRole('menuitem')).toHaveText(names)
  await window.page.keyboard.press('Escape')
  await expect(window.page.getByRole('menu')).toBeHidden()
}

test('S-59 S-60 a thought is folded to its title, a call opens with its lines and output; neither repeats itself', async ({
  open,
}) => {
  const { window } = await open({
    script: [
      {
        emit: [
          { reasoning: '**Reading the code first**\n\nThe parser is small.' },
          calls('read_file', { path: 'index.js' }),
        ],
      },
      says('It parses.'),
    ],
  })
  await window.newSession()
  await window.send('What does it do?')
  await window.settled('completed')
  const thought = window.entry('Thought')
  await expect(thought).toContainText('Reading the code first')
  await expect(thought).not.toContainText('The parser is small.')
  await thought.getByRole('button').first().click()
  await expect(thought).toContainText('The parser is small.')
  await expect(thought.getByText('Reading the code first')).toHaveCount(1)

  const call = window.entry('Tool call, read file')
  await call.getByRole('button').first().click()
  const output = call.getByLabel('Output', { exact: true })
  await expect(output).toContainText('module.exports')
  expect(await output.innerText()).not.toMatch(/\d\| /)
  await call.getByRole('button', { name: /^index\.js/ }).click()
  await expect(window.inspector.getByRole('tabpanel', { name: 'Files' })).toContainText('index.js')
})

test('S-68 each entry has its actions in its menu: messages, answers, turns', async ({ open }) => {
  const { window } = await open({ script: mending('ms') })
  await window.newSession()
  await window.allowAll()
  await window.send('Mend it')
  await window.settled('completed')
  await hasMenu(window, 'You: Mend it', ['Copy', 'Edit message', 'Fork from here', 'Delete from here'])
  await hasMenu(window, 'Answer: Hours', ['Copy', 'Fork from here'])
  await hasMenu(window, 'Turn completed', ['Copy', 'Show changes', 'Undo changes', 'Try this turn again'])
})

test('T-181 what never began is tried again, not continued', async ({ open }) => {
  const { lab, window } = await open({
    script: [{ emit: [{ hang: true }] }, { emit: [{ text: 'Half' }, { hang: true }] }],
  })
  await window.newSession()
  await window.send('Begin')
  await expect.poll(() => lab.asked().length).toBe(1)
  await window.button('Stop').click()
  await window.settled('stopped')
  await hasMenu(window, 'Turn stopped', ['Copy', 'Try this turn again'])
  await window.button('Try this turn again').click()
  await expect(window.entry('Answer')).toContainText('Half')
  await window.button('Stop').click()
  await window.settled('stopped')
  await hasMenu(window, 'Turn stopped', ['Copy', 'Try this turn again', 'Continue'])
})

test('S-83 S-80 /undo takes the last turn back with its files and gives its words, /redo brings both forward', async ({
  open,
}) => {
  const { lab, window } = await open({
    script: [
      says('Nothing to do yet.'),
      { emit: [calls('write_file', { path: 'made.txt', content: 'made\n' })] },
      says('It is made.'),
    ],
  })
  const { keyboard } = window.page
  await window.newSession()
  await window.allowAll()
  await window.send('Look around')
  await window.settled('completed')
  await window.send('Make a file')
  await expect(window.entry('Answer: It is made.')).toBeVisible()
  await window.settled('completed')

  await window.message.fill('/undo')
  await keyboard.press('Enter')
  const dialog = window.dialog('Undo the last turn')
  await expect(dialog.getByRole('checkbox')).toBeChecked()
  await expect(dialog.getByRole('listitem')).toHaveText([/made\.txt.*is deleted/])
  await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
  await expect(dialog).toBeHidden()
  await expect(window.entry('Answer: It is made.')).toBeHidden()
  await expect(window.message).toHaveValue('Make a file')
  expect((await lab.git('status', '--porcelain')).trim()).toBe('')

  await window.message.fill('/redo')
  await keyboard.press('Enter')
  await expect(window.entry('Answer: It is made.')).toBeVisible()
  await window.dialog('Redo the changes of this turn').getByRole('button', { name: 'Redo 1 file' }).click()
  await expect(window.page.getByRole('dialog')).toBeHidden()
  expect(await lab.read('made.txt')).toBe('made\n')

  // Without files the conversation alone goes: that is what deleting does unless it is asked for more.
  await window.entry('You: Make a file').click({ button: 'right' })
  await window.page.getByRole('menuitem', { name: 'Delete from here' }).click()
  const remove = window.dialog('Delete from here')
  await expect(remove.getByRole('checkbox')).not.toBeChecked()
  await remove.getByRole('button', { name: 'Delete from here' }).click()
  await expect(window.entry('Answer: It is made.')).toBeHidden()
  expect(await lab.read('made.txt')).toBe('made\n')

  // What changed nothing is taken back at once.
  await window.message.fill('/undo')
  await keyboard.press('Enter')
  await expect(window.entry('Answer: Nothing to do yet.')).toBeHidden()
  await expect(window.message).toHaveValue('Look around')
})

test('SA-38 S-148 a focused call keeps its focus over the settle, and only what is finished is announced, once', async ({
  open,
}) => {
  const words = Array.from({ length: 150 }, (_, at) => `word${at}`).join(' ')
  const { window } = await open({
    script: [
      { emit: [{ text: 'I look first.' }, calls('find_files', { pattern: '*.js' })] },
      { emit: [{ text: words, everyMs: 10 }] },
    ],
  })
  await window.newSession()
  await window.page.evaluate(() => {
    const said: string[] = []
    Object.assign(window, { said })
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const region =
          target.parentElement?.closest('[aria-live="polite"]') ?? (target as Element).closest?.('[aria-live="polite"]')
        if (region?.textContent) said.push(region.textContent)
      }
    }).observe(document.body, { subtree: true, characterData: true, childList: true })
  })
  await window.send('Look')
  const call = window.entry('Tool call, find files')
  await expect(window.transcript).toContainText('word3 ')
  await call.focus()
  await window.settled('completed')
  await expect(call).toBeFocused()
  const heard = () => window.page.evaluate(() => (window as unknown as { said: string[] }).said)
  await expect.poll(heard).toContain('Turn completed.')
  const said = await heard()
  expect(said.filter((text) => text.includes('I look first.'))).toHaveLength(1)
  expect(said.filter((text) => text.includes('word0'))).toHaveLength(1)
  expect(said.some((text) => text.includes('word0') && !text.includes('word60'))).toBe(false)
})

test('S-48 an entry of the list says what its session does, and its path and model to who points at it', async ({
  open,
}) => {
  const { lab, window } = await open({ script: [{ emit: [{ text: 'Working' }, { hang: true }] }] })
  await window.newSession()
  await window.send('Begin')
  await expect(window.entry('Answer')).toContainText('Working')
  const entry = window.sessions.getByRole('button', { name: /scripted title|Begin/ }).first()
  await expect(entry).toContainText('Running for')
  const title = (await entry.getAttribute('title')) ?? ''
  expect(title).toContain(lab.workspace)
  expect(title).toContain('lab/scripted')
  await window.button('Stop').click()
  await window.settled('stopped')
  await expect(entry).not.toContainText('Running for')
  await expect(entry).toContainText(/now|min|ago/)
})

test('S-174 the first page offers a folder, a model and the demo, is no wall, and each is skipped by doing something else', async ({
  open,
}) => {
  const { window } = await open({ folder: async () => null, config: { providers: {}, model: undefined } })
  const welcome = window.page.getByRole('main', { name: 'Welcome' })
  for (const [step, button] of [
    ['Open a folder', 'Open folder'],
    ['Connect a model', 'Connect'],
    ['Try the demo', 'Try the demo'],
  ] as const) {
    const item = welcome.getByRole('listitem').filter({ has: window.page.getByRole('heading', { name: step }) })
    await expect(item.getByRole('button', { name: button })).toBeVisible()
  }
  await expect(window.page.getByRole('dialog')).toHaveCount(0)
  await window.page.keyboard.press('ControlOrMeta+,')
  await expect(window.dialog('Settings')).toBeVisible()
  await window.page.keyboard.press('Escape')
  await welcome.getByRole('button', { name: 'Try the demo' }).click()
  // It only has to be sent; the copy that was made at the first start is the one that opens.
  await expect(window.message).toHaveValue('Fix the failing test.')
  await expect(window.sessions.getByRole('listitem')).toHaveCount(1)
  await window.button('Send').click()
  await expect(window.entry('Answer').first()).toBeVisible()
})
