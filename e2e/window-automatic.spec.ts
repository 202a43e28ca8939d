/** Turns that start by themselves: woken by a process, held after Stop, giving way to the person, ending quietly. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messagesOf, type Step } from './model-server/script.ts'
import { expect, type Desk, type LatheWindow, test } from './window.ts'

const call = (name: string, args: Record<string, unknown>): Step => ({ emit: [{ call: { name, args } }] })
const says = (text: string): Step => ({ emit: [{ text }] })
const gated = (gate: string) => `until [ -e ${gate} ]; do sleep 0.05; done`
/** A build that ends when the person's test opens its gate, and wakes the agent then. */
const build = call('shell', { command: gated('built'), yield_time_ms: 0, on_exit: 'wake' })

function openGate({ lab }: Desk, gate: string): Promise<void> {
  return writeFile(join(lab.workspace, gate), '')
}

async function allowAll(window: LatheWindow): Promise<void> {
  await window.newSession()
  await window.allowAll()
}

const held = (window: LatheWindow) => window.page.getByText('Automatic work paused until your next message')

test('X-608 A-2 a process that ended wakes the agent: the transcript says what started the turn', async ({ open }) => {
  const desk = await open({ script: [build, says('It builds.'), says('The build is done.')] })
  const { window } = desk
  await allowAll(window)
  await window.send('Build it')
  await window.settled('completed')
  await openGate(desk, 'built')
  await expect(window.entry(`Started by x1 \\(until`)).toBeVisible()
  await expect(window.entry('Answer: The build is done.')).toBeVisible()
  const told = JSON.stringify(messagesOf(desk.lab.asked().at(-1)!.body))
  expect(told).toContain('ended with exit code 0')
  expect(told).toContain('A window is open.')
  // Nothing a machine said is there to be sent again.
  await window.message.press('ArrowUp')
  await expect(window.message).toHaveValue('Build it')
})

test('T-29 T-30 A-106 after a Stop it waits, and the window says so, until the person resumes', async ({ open }) => {
  const desk = await open({
    script: [build, { emit: [{ text: 'Still ' }, { hang: true }] }, says('The build is done.')],
  })
  const { window } = desk
  await allowAll(window)
  await window.send('Build it')
  await expect(window.entry('Answer, being written')).toBeVisible()
  await window.button('Stop').click()
  await window.settled('stopped')
  await openGate(desk, 'built')
  await expect(held(window)).toContainText('1 waiting')
  const asked = desk.lab.asked().length
  await window.button('Resume').click()
  await expect(window.entry('Answer: The build is done.')).toBeVisible()
  await expect(held(window)).toBeHidden()
  expect(desk.lab.asked()).toHaveLength(asked + 1)
})

test('T-31 T-32 TA-7 a message beside such a turn makes it give way: seen at once, answered next', async ({ open }) => {
  const long = call('shell', { command: gated('never') })
  const desk = await open({ script: [build, says('It builds.'), long, says('Here I am.')] })
  const { window } = desk
  await allowAll(window)
  await window.send('Build it')
  await window.settled('completed')
  await openGate(desk, 'built')
  await expect(window.status).toContainText('Running')
  await window.send('Something else first')
  await expect(window.entry('Turn paused for your message')).toBeVisible()
  await expect(window.entry('Answer: Here I am.')).toBeVisible()
  await expect(held(window)).toBeHidden()
})

test('T-33 A-117 a turn with nothing to report is one line', async ({ open }) => {
  const desk = await open({ script: [build, says('It builds.'), call('nothing_to_report', {})] })
  const { window } = desk
  await allowAll(window)
  await window.send('Build it')
  await window.settled('completed')
  await openGate(desk, 'built')
  await expect(window.entry('Started by x1 .*: nothing to report')).toBeVisible()
})

test('A-110 A-111 a refused key pauses automatic work: the window says so once, with the way to its settings and Resume', async ({
  open,
}) => {
  const second = call('shell', { command: gated('built-again'), yield_time_ms: 0, on_exit: 'wake' })
  const desk = await open({
    script: [
      build,
      says('It builds.'),
      { error: { status: 401 } },
      second,
      says('It builds again.'),
      says('The second build is done.'),
    ],
  })
  const { window } = desk
  await allowAll(window)
  await window.send('Build it')
  await window.settled('completed')
  await openGate(desk, 'built')
  const paused = window.page
    .getByRole('status')
    .filter({ hasText: 'Automatic work with lab is paused: it wants a key.' })
  await expect(paused).toHaveCount(1)
  await paused.getByRole('button', { name: 'Provider settings' }).click()
  await expect(window.page.getByRole('dialog', { name: 'Settings' }).getByText('Add a provider')).toBeVisible()
  await window.page.keyboard.press('Escape')

  // A person is answered, which ends it; refused again, they say themselves that it may go on.
  await window.send('Build it again')
  await expect(window.entry('Answer: It builds again.')).toBeVisible()
  await expect(paused).toBeHidden()
  await openGate(desk, 'built-again')
  await expect(window.entry('Answer: The second build is done.')).toBeVisible()
})

test('A-111 A-113 what ends while a provider is paused waits for Resume', async ({ open }) => {
  const other = call('shell', { command: `${gated('other')}; touch over`, yield_time_ms: 0, on_exit: 'wake' })
  const desk = await open({
    script: [build, other, says('Both build.'), { error: { status: 401 } }, says('The other is done.')],
  })
  const { window } = desk
  await allowAll(window)
  await window.send('Build both')
  await window.settled('completed')
  await openGate(desk, 'built')
  await expect(window.page.getByText('Automatic work with lab is paused')).toBeVisible()
  const asked = desk.lab.asked().length
  await openGate(desk, 'other')
  await expect.poll(() => existsSync(join(desk.lab.workspace, 'over'))).toBe(true)
  await window.button('Resume').click()
  await expect(window.entry('Answer: The other is done.')).toBeVisible()
  await expect(window.page.getByText('Automatic work with lab is paused')).toBeHidden()
  expect(desk.lab.asked()).toHaveLength(asked + 1)
})
