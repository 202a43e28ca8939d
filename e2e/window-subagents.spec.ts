/** Subagents as a person meets them: a card in the turn, what it asks, its own transcript and the way back, its Stop. */
import type { Step } from './model-server/script.ts'
import { expect, test, type LatheWindow } from './window.ts'

const ofParent = (step: Step): Step => ({ when: { lastUserContains: 'Do it' }, ...step })
const of = (label: string, step: Step): Step => ({ when: { lastUserContains: `task of ${label}` }, ...step })
const delegates = (...labels: string[]): Step =>
  ofParent({
    emit: labels.map((label) => ({ call: { name: 'subagent', args: { label, task: `task of ${label}` } } })),
  })
const shell = (command: string): Step => ({ emit: [{ call: { name: 'shell', args: { command } } }] })
const says = (text: string): Step => ({ emit: [{ text }] })

const card = (window: LatheWindow, label: string) => window.entry(`Subagent ${label}`)

test('C-95 C-104 a subagent asks where the person is, shows what it does, and its transcript leads back', async ({
  open,
}) => {
  const { window, lab } = await open({
    script: [
      delegates('find the port'),
      of('find the port', shell('touch asked-for')),
      of('find the port', says('The port is 4000.')),
      ofParent(says('It is 4000.')),
    ],
  })
  await window.newSession()
  await window.send('Do it')
  await expect(window.approval).toContainText('find the port asks')
  await expect(card(window, 'find the port')).toContainText('Waiting for you')
  await expect(window.status).toContainText('Waiting for your approval')
  await window.approval.getByRole('button', { name: 'Allow once' }).click()
  await window.settled('completed')
  await expect(card(window, 'find the port')).toContainText('Done')
  await expect(card(window, 'find the port')).toContainText('2 steps')
  expect(await lab.read('asked-for')).toBe('')
  // What it changed is the turn's, to be looked at and taken back.
  await expect(await window.tab('Changes')).toContainText('asked-for')

  await window.button('Open transcript of find the port').click()
  await expect(window.entry('Answer: The port is 4000.')).toBeVisible()
  await expect(window.message).toBeHidden()
  // The list has the folder and the one session of the person's.
  await expect(window.sessions.getByRole('listitem')).toHaveCount(2)
  const current = window.sessions.locator('[aria-current="true"]')
  await expect(current).toHaveCount(1)
  await window.button('Back to the session').last().click()
  await expect(window.entry('Answer: It is 4000.')).toBeVisible()
  await expect(window.message).toBeVisible()
  // It is all in sight: there is no later place to jump to.
  await expect(card(window, 'find the port')).toBeFocused()
  await expect(window.button(/^Jump to latest/)).toBeHidden()
  // A reload shows the session that asked for it.
  await window.button('Open transcript of find the port').click()
  await expect(window.entry('Answer: The port is 4000.')).toBeVisible()
  await window.page.reload()
  await expect(window.entry('Answer: It is 4000.')).toBeVisible()
})

test('C-102 Stop on one card ends that one alone; Stop of the turn ends what is left', async ({ open }) => {
  const { window } = await open({
    script: [
      delegates('first', 'second'),
      of('first', { emit: [{ text: 'At it' }, { hang: true }] }),
      of('second', { emit: [{ text: 'At it too' }, { hang: true }] }),
    ],
  })
  await window.newSession()
  await window.send('Do it')
  await expect(card(window, 'second')).toContainText('Thinking')
  await window.button('Stop subagent first').click()
  await expect(card(window, 'first')).toContainText('Stopped')
  await expect(card(window, 'second')).toContainText('Thinking')
  await window.button('Stop').click()
  await window.settled('stopped')
  await expect(card(window, 'second')).toContainText('Stopped')
})
