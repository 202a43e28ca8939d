/** Processes that outlive their call: seen, watched, taken over, stopped; a secret asked for; the person's own commands. */
import type { Page } from '@playwright/test'
import { messagesOf, type Step } from './model-server/script.ts'
import { expect, type Desk, type LatheWindow, test } from './window.ts'

const call = (name: string, args: Record<string, unknown>): Step => ({ emit: [{ call: { name, args } }] })
const says = (text: string): Step => ({ emit: [{ text }] })

/** All text of the model's last request. */
function lastRequest({ lab }: Desk): string {
  return JSON.stringify(messagesOf(lab.asked().at(-1)!.body))
}

const processes = (page: Page) => page.getByRole('list', { name: 'Running processes' })

async function allowAll(window: LatheWindow): Promise<void> {
  await window.newSession()
  await window.allowAll()
}

test('X-302 X-425 T-97 a server goes on after its turn, is watched, and is stopped by the person', async ({ open }) => {
  const desk = await open({
    script: [
      call('shell', { command: 'sleep 1; echo listening on 4000; exec sleep 600', yield_time_ms: 0 }),
      call('exec_session', { session_id: 'x1', wait_for: 'listening' }),
      says('The server runs.'),
      says('It was stopped.'),
    ],
  })
  const { window } = desk
  await allowAll(window)
  await window.send('Start the server')
  await window.settled('completed')
  await expect(processes(window.page)).toContainText('x1')
  await expect(window.entry('Turn completed')).toContainText('1 process still running')

  await processes(window.page).getByRole('button', { name: 'Open' }).click()
  await expect(window.terminal).toContainText('Run by the agent, without a terminal.')

  await window.entry('Turn completed').getByRole('button', { name: 'Stop it x1' }).click()
  await expect(processes(window.page)).toBeHidden()
  await window.send('And now?')
  await expect(window.entry('Answer: It was stopped.')).toBeVisible()
  expect(lastRequest(desk)).toContain('The process x1 (sleep 1; echo listening on 4000; exec sleep 600) was ended')
})

test('the person takes the agent’s program over, types, hands it back, and the agent is told', async ({ open }) => {
  const desk = await open({
    script: [
      call('shell', { command: 'cat', yield_time_ms: 200, tty: true }),
      says('It waits.'),
      call('exec_session', { session_id: 'x1', timeout_ms: 200 }),
      says('Seen.'),
    ],
  })
  const { window } = desk
  await allowAll(window)
  await window.send('Start it')
  await window.settled('completed')
  await processes(window.page).getByRole('button', { name: 'Open' }).click()
  await expect(window.terminal).toContainText('Run by the agent.')
  await window.terminal.getByRole('button', { name: 'Take over' }).click()
  await expect(window.terminal).toContainText('You have the keyboard')
  await window.terminal.locator('.xterm-helper-textarea').focus()
  await window.page.keyboard.type('typed by hand\n')
  await window.terminal.getByRole('button', { name: 'Hand back' }).click()
  await expect(window.terminal.getByRole('button', { name: 'Take over' })).toBeVisible()
  await window.send('Look at it')
  await expect(window.entry('Answer: Seen.')).toBeVisible()
  expect(lastRequest(desk)).toContain('The person typed into it since your last call.')
  expect(lastRequest(desk)).toContain('typed by hand')
})

test('X-428 T-152 K-04 a password is asked of the person and reaches the process alone', async ({ open }) => {
  const asked = Promise.withResolvers<void>()
  const ask = `printf 'Password: '; IFS= read -rs p; echo; [ "$p" = s3cret-word ] && echo welcome; exec sleep 600`
  const desk = await open({
    script: [
      call('shell', { command: ask, yield_time_ms: 1_500, tty: true }),
      { emit: [{ until: asked.promise }, ...call('exec_session', { session_id: 'x1', input: 'guess\n' }).emit!] },
      call('exec_session', { session_id: 'x1', wait_for: 'welcome', timeout_ms: 60_000 }),
      says('In.'),
    ],
  })
  const { lab, window } = desk
  await allowAll(window)
  await window.send('Log in')
  await expect(window.question).toContainText('Password:')
  asked.resolve()
  await expect(processes(window.page)).toContainText('Waiting for you')
  // The agent's guess was refused before the person answers.
  await expect.poll(() => lab.asked().length).toBe(3)
  await window.question.getByRole('textbox').fill('s3cret-word')
  // A card takes no key in its first moment, so that what was meant for another field answers nothing.
  await expect(window.question.getByRole('button', { name: 'Answer' })).toBeEnabled()
  await window.question.getByRole('textbox').press('Enter')
  await expect(window.entry('Answer: In.')).toBeVisible()
  await expect(window.question).toBeHidden()
  const sent = JSON.stringify(lab.asked().map(({ body }) => body))
  expect(sent).toContain('asks for a secret')
  expect(sent).not.toContain('"s3cret-word"')
})

test('X-330 X-331 XA-40 a line with ! runs at once on a terminal; the agent reads it with the next message', async ({
  open,
}) => {
  const desk = await open({
    script: [call('exec_session', { session_id: 'x1', terminate: true }), says('Not mine.')],
  })
  const { lab, window } = desk
  await allowAll(window)
  await window.message.fill('!tty && echo mine; exec sleep 600')
  await window.message.press('Enter')
  await expect(processes(window.page)).toContainText('Yours')
  await expect(window.entry('Your command')).toContainText(/\/dev\/pts\/\d+\s+mine/)
  expect(lab.asked()).toHaveLength(0)
  await window.send('End it')
  await expect(window.entry('Answer: Not mine.')).toBeVisible()
  const sent = lastRequest(desk)
  expect(sent).toContain('/dev/pts/')
  expect(sent).toContain('running as x1')
  expect(sent).toContain('x1 is a command of the person')
  await processes(window.page).getByRole('button', { name: 'Stop x1' }).click()
  await expect(processes(window.page)).toBeHidden()
})

test('X-801 terminals stand side by side', async ({ open }) => {
  const { window } = await open({})
  await window.newSession()
  await window.command('New terminal')
  await window.terminal.getByRole('button', { name: 'Split terminal' }).click()
  await expect(window.terminal.getByRole('tab')).toHaveCount(2)
  await expect(window.terminal.getByRole('tabpanel')).toHaveCount(2)
})
