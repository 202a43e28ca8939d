/** One task from the composer to a mended file, and what a person does to a turn on its way. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../preload/contract/ids.ts'
import { HostClient } from './host-client.ts'
import { faults, mending, task } from './mending.ts'
import { messagesOf, type Step } from './model-server/script.ts'
import { expect, type Desk, type LatheWindow, test } from './window.ts'

/** A command that runs until the person's test opens its gate: what happens meanwhile happens while a turn runs. */
const gated: Step = { emit: [{ call: { name: 'shell', args: { command: 'until [ -e gate ]; do sleep 0.05; done' } } }] }

function openGate({ lab }: Desk): Promise<void> {
  return writeFile(join(lab.workspace, 'gate'), '')
}

/** What people said in the model's last request, the newest last. */
function told({ lab }: Desk): string[] {
  return messagesOf(lab.asked().at(-1)!.body).flatMap(({ role, text, tool }) =>
    role === 'user' && !tool ? [text] : [],
  )
}

/** Brings a turn to a running command. */
async function runGated(window: LatheWindow): Promise<void> {
  await window.newSession()
  await window.allowAll()
  await window.send('Wait at the gate')
  await expect(window.status).toContainText('Running')
}

test('T-136 a task is typed, approved step by step, seen as plan and diff, and done on disk', async ({ open }) => {
  const { lab, window } = await open({ script: mending('ms') })
  await window.newSession()
  await window.send(task)

  await expect(window.approval).toContainText('Make this change?')
  await expect(window.approval).toContainText('return n * h;')
  await expect(window.status).toContainText('Waiting for your approval')
  expect(await lab.read('index.js')).toContain(faults.ms.broken)
  await window.approval.getByRole('button', { name: 'Allow once' }).click()

  await expect(window.approval).toContainText('Run this command?')
  await expect(window.approval).toContainText('--test')
  await window.approval.getByRole('button', { name: 'Allow once' }).click()

  await window.settled('completed')
  await expect(window.approval).toBeHidden()
  await expect(window.entry('Answer: Hours were counted as minutes')).toBeVisible()
  expect(await lab.testsPass()).toBe(true)
  expect((await lab.git('status', '--porcelain')).trim()).toBe('M index.js')

  const changes = await window.tab('Changes')
  await expect(changes.getByRole('button', { name: 'Edited index.js' })).toBeVisible()
  await expect(changes).toContainText('return n * h;')
  const plan = await window.tab('Plan')
  await expect(plan).toContainText('3 of 3 done')
  await expect(plan.getByRole('listitem')).toHaveCount(3)
})

test('T-136 what is denied is not done, and the reason reaches the model', async ({ open }) => {
  const desk = await open({
    script: [
      { emit: [{ call: { name: 'write_file', args: { path: 'notes.md', content: 'No.' } } }] },
      { emit: [{ text: 'I leave it.' }] },
    ],
  })
  const { lab, window } = desk
  await window.newSession()
  await window.send('Write notes')
  await window.approval.getByRole('button', { name: 'Other ways to refuse' }).click()
  await window.page.getByRole('menuitem', { name: 'Deny and say why' }).click()
  await window.approval.getByRole('textbox', { name: 'What to tell the agent' }).fill('Notes belong in docs.')
  await window.page.keyboard.press('Enter')
  await window.settled('completed')
  await expect(window.entry('Tool call, write file')).toContainText('Denied')
  expect(JSON.stringify(lab.asked().at(-1)!.body)).toContain('Notes belong in docs.')
  expect((await lab.git('status', '--porcelain')).trim()).toBe('')
})

test('T-107 Stop in the middle of an answer keeps what came, and nothing starts by itself', async ({ open }) => {
  const { lab, window } = await open({ script: [{ emit: [{ text: 'The first half of an answer' }, { hang: true }] }] })
  await window.newSession()
  await window.send('Answer at length')
  await expect(window.entry('Answer')).toContainText('The first half of an answer')
  await window.button('Stop').click()
  await window.settled('stopped')
  await expect(window.entry('Answer')).toContainText('The first half of an answer')
  await expect(window.status).toBeEmpty()
  await expect(window.button('Send')).toBeVisible()
  await expect(window.entry('Error')).toHaveCount(0)
  await expect.poll(() => lab.asked().map(({ aborted }) => aborted)).toEqual([true])

  lab.script([{ emit: [{ text: 'The second half.' }] }])
  await window.send('And the rest?')
  await window.settled('completed')
  expect(messagesOf(lab.asked()[1]!.body).map(({ text }) => text)).toContain('The first half of an answer')
})

test('T-117 a steer is read between two steps and stands where it was read', async ({ open }) => {
  const desk = await open({ script: [gated, { emit: [{ text: 'With tabs, then.' }] }] })
  const { window } = desk
  await runGated(window)
  await window.message.fill('Use tabs')
  await window.button('Steer now').click()
  await expect(window.message).toHaveValue('')
  const steers = window.page.getByRole('list', { name: 'Steers' })
  await expect(steers).toContainText('Use tabs')
  await openGate(desk)
  await window.settled('completed')
  await expect(steers).toBeHidden()
  await expect(window.transcript.getByRole('article')).toContainText([
    'Wait at the gate',
    'until [ -e gate ]',
    'Use tabs',
    'With tabs, then.',
    'Completed',
  ])
  expect(told(desk)).toEqual(['Wait at the gate', 'Use tabs'])
})

test('T-132 while a turn runs Enter steers and Ctrl+Enter queues, or as the setting says; the buttons are both there', async ({
  open,
}) => {
  const desk = await open({ script: [gated, { emit: [{ text: 'Read.' }] }, { emit: [{ text: 'Done.' }], repeat: 2 }] })
  const { window } = desk
  await runGated(window)
  const steers = window.page.getByRole('list', { name: 'Steers' }).getByRole('listitem')
  const queue = window.page.getByRole('list', { name: 'Queued messages' }).getByRole('listitem')
  await window.message.fill('one')
  for (const name of ['Steer now', 'Queue']) await expect(window.button(name)).toBeVisible()
  await window.message.press('Enter')
  await expect(steers).toContainText(['one'])
  await window.message.fill('two')
  await window.message.press('ControlOrMeta+Enter')
  await expect(queue).toContainText(['two'])

  using client = await HostClient.of(desk.lab.home)
  await client.handlers.settings.set({ requestId: newId(), settings: { 'composer.whileRunning': 'queue' } }, client.who)
  await expect(window.message).toHaveAttribute('placeholder', 'Queue what comes next')
  await window.message.fill('three')
  await window.message.press('Enter')
  await expect(queue).toContainText(['two', 'three'])
  await window.message.fill('four')
  await window.message.press('ControlOrMeta+Enter')
  await expect(steers).toContainText(['one', 'four'])
  await openGate(desk)
  await expect(window.entry('You:')).toContainText(['Wait at the gate', 'one', 'four', 'two', 'three'])
  await window.settled('completed')
})

test('T-129 a queued message becomes the next turn', async ({ open }) => {
  const desk = await open({ script: [gated, { emit: [{ text: 'Through.' }] }, { emit: [{ text: 'Closed.' }] }] })
  const { window } = desk
  await runGated(window)
  await window.message.fill('Then close it')
  await window.button('Queue').click()
  const queue = window.page.getByRole('list', { name: 'Queued messages' })
  await expect(queue.getByRole('listitem')).toContainText(['Then close it'])
  await openGate(desk)
  await expect(window.entry('Answer: Closed.')).toBeVisible()
  await window.settled('completed')
  await expect(queue).toBeHidden()
  await expect(window.entry('You:')).toContainText(['Wait at the gate', 'Then close it'])
})

test('K-25 Stop pauses the queue: it is edited and resumed, or cleared, and nothing is sent by itself', async ({
  open,
}) => {
  const desk = await open({ script: [gated] })
  const { lab, window } = desk
  await runGated(window)
  for (const text of ['First after', 'Second after']) {
    await window.message.fill(text)
    await window.button('Queue').click()
  }
  const queue = window.page.getByRole('region', { name: 'Queue' })
  await expect(queue.getByRole('listitem')).toContainText(['First after', 'Second after'])
  await window.button('Stop').click()
  await window.settled('stopped')
  await expect(queue).toContainText('Paused because you stopped the turn')
  await expect(queue.getByRole('listitem')).toHaveCount(2)
  expect(lab.asked()).toHaveLength(1)

  await queue.getByRole('button', { name: 'Edit', exact: true }).first().click()
  await expect(window.message).toHaveValue('First after')
  await window.message.fill('First, but shorter')
  await window.button('Save').click()
  await expect(queue.getByRole('listitem')).toContainText(['First, but shorter', 'Second after'])
  expect(lab.asked()).toHaveLength(1)

  lab.script([{ emit: [{ text: 'One done.' }] }, { emit: [{ text: 'Half of two' }, { hang: true }] }])
  await queue.getByRole('button', { name: 'Resume' }).click()
  await expect(window.entry('Answer')).toContainText(['One done.', 'Half of two'])
  await window.message.fill('Third after')
  await window.button('Queue').click()
  await expect(queue.getByRole('listitem')).toContainText(['Third after'])
  await window.button('Stop').click()
  await window.settled('stopped')
  await queue.getByRole('button', { name: 'Clear' }).click()
  await window.page.getByRole('alertdialog').getByRole('button', { name: 'Clear' }).click()
  await expect(queue).toBeHidden()
  expect(lab.asked()).toHaveLength(3)
  expect(told(desk)).toEqual(['Wait at the gate', 'First, but shorter', 'Second after'])
})

test('T-147 a question is answered by choice, and the answer reaches the model', async ({ open }) => {
  const { lab, window } = await open({
    script: [
      {
        emit: [
          {
            call: { name: 'ask_person', args: { question: 'Which licence?', choices: ['MIT', 'Apache-2.0'] } },
          },
        ],
      },
      { emit: [{ text: 'MIT it is.' }] },
    ],
  })
  await window.newSession()
  await window.send('Add a licence')
  await expect(window.question).toContainText('Which licence?')
  await expect(window.status).toContainText('Waiting for your answer')
  await window.question.getByRole('radio', { name: 'MIT' }).check()
  await window.question.getByRole('button', { name: 'Answer' }).click()
  await window.settled('completed')
  await expect(window.question).toBeHidden()
  await expect(window.transcript).toContainText('You answered: MIT')
  expect(messagesOf(lab.asked()[1]!.body).at(-1)!.text).toContain('MIT')
})
