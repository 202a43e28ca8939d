/** Said differently, taken back, brought back, gone on with elsewhere: nothing a person had is lost on the way. */
import { expect, test } from './window.ts'

const says = (text: string) => ({ emit: [{ text }] })

test('S-79 S-81 a message said differently takes its place, and the earlier version can be seen and forked', async ({
  open,
}) => {
  const { lab, window } = await open({ script: [says('First answer'), says('Second answer'), says('Better answer')] })
  await window.newSession()
  await window.send('First question')
  await window.settled('completed')
  await window.send('Second question')
  await expect(window.entry('Answer: Second answer')).toBeVisible()
  await window.settled('completed')

  await window.message.fill('half a thought')
  await window.entry('You: Second question').hover()
  await window.entry('You: Second question').getByRole('button', { name: 'Edit message' }).click()
  await expect(window.message).toHaveValue('Second question')
  await window.message.fill('A better question')
  await window.page.keyboard.press('Enter')
  await expect(window.entry('Answer: Better answer')).toBeVisible()
  await expect(window.entry('Answer: Second answer')).toBeHidden()
  await expect(window.message).toHaveValue('half a thought')
  expect(JSON.stringify(lab.asked().at(-1)!.body)).not.toContain('Second question')

  const mark = window.entry('2 items set aside')
  await mark.getByRole('button', { name: '2 items set aside' }).click()
  await expect(mark).toContainText('Second answer')
  await mark.getByRole('button', { name: 'Fork' }).click()
  await expect(window.entry('Forked from')).toBeVisible()
  await expect(window.entry('Answer: Second answer')).toBeVisible()
  await expect(window.entry('Answer: Better answer')).toBeHidden()
})

test('S-80 S-81 what is deleted from here on comes back by Restore, in every window', async ({ open }) => {
  const desk = await open({ script: [says('First answer'), says('Second answer')] })
  const { window } = desk
  await window.newSession()
  await window.send('First question')
  await window.settled('completed')
  await window.send('Second question')
  await expect(window.entry('Answer: Second answer')).toBeVisible()
  await window.settled('completed')
  const other = await desk.another()
  await expect(other.entry('Answer: Second answer')).toBeVisible()

  await window.entry('You: Second question').click({ button: 'right' })
  await window.page.getByRole('menuitem', { name: 'Delete from here' }).click()
  for (const each of [window, other]) {
    await expect(each.entry('2 items set aside')).toBeVisible()
    await expect(each.entry('You: Second question')).toBeHidden()
  }
  await other.entry('2 items set aside').getByRole('button', { name: 'Restore' }).click()
  for (const each of [window, other]) {
    await expect(each.entry('Answer: Second answer')).toBeVisible()
    await expect(each.entry('2 items set aside')).toBeHidden()
  }
})

test('S-73 a fork from the menu of an answer ends there and leaves the first session as it was', async ({ open }) => {
  const { window } = await open({ script: [says('First answer'), says('Second answer'), says('Other answer')] })
  await window.newSession()
  await window.send('First question')
  await window.settled('completed')
  await window.send('Second question')
  await expect(window.entry('Answer: Second answer')).toBeVisible()
  await window.settled('completed')
  await window.entry('Answer: First answer').click({ button: 'right' })
  await window.page.getByRole('menuitem', { name: 'Fork from here' }).click()
  await expect(window.entry('Forked from')).toBeVisible()
  await expect(window.entry('Answer: Second answer')).toBeHidden()
  await window.send('Another question')
  await expect(window.entry('Answer: Other answer')).toBeVisible()
  await window.entry('Forked from').getByRole('button').click()
  await expect(window.entry('Answer: Second answer')).toBeVisible()
  await expect(window.entry('Answer: Other answer')).toBeHidden()
})

test('S-69 Ctrl+F finds in the whole session, goes there, unfolds it and marks the words', async ({ open }) => {
  const { window } = await open({
    script: [
      { emit: [{ call: { name: 'shell', args: { command: 'echo a needle in the hay' } } }] },
      says('It is done'),
      {
        emit: Array.from({ length: 100 }, (_, at) => ({ call: { name: 'find_files', args: { pattern: `x${at}*` } } })),
      },
      says('Looked everywhere'),
    ],
  })
  await window.newSession()
  await window.allowAll()
  await window.send('Look for it')
  await window.settled('completed')
  await window.send('Look everywhere')
  await expect(window.entry('Answer: Looked everywhere')).toBeVisible({ timeout: 30_000 })
  await window.page.reload()
  await expect(window.entry('Answer: Looked everywhere')).toBeVisible()
  await window.page.keyboard.press('ControlOrMeta+f')
  await window.page.getByRole('textbox', { name: 'Find in session' }).fill('needle in')
  await expect(window.page.getByRole('search', { name: 'Find in session' })).toContainText('1 of 1')
  await expect(window.entry('Tool call, shell').getByText('a needle in the hay').last()).toBeVisible()
  await expect.poll(() => window.page.evaluate(() => CSS.highlights.get('found')?.size ?? 0)).toBeGreaterThan(0)
  await expect(window.page.getByRole('textbox', { name: 'Find in session' })).toBeFocused()
  await window.page.keyboard.press('Escape')
  await expect(window.page.getByRole('search', { name: 'Find in session' })).toBeHidden()
})
