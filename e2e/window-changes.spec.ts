/** Reviewing what a turn did: hunks kept and undone, conflicts shown, a turn undone by its plan and brought forward. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from './model-server/script.ts'
import { expect, type Desk, test } from './window.ts'

const lines = Array.from({ length: 60 }, (_, at) => `line ${at + 1}\n`).join('')
const changed = lines.replace('line 5\n', 'five\n').replace('line 30\n', 'thirty\n').replace('line 55\n', 'end\n')
const call = (name: string, args: Record<string, unknown>) => ({ call: { name, args } })
const script: Step[] = [
  { emit: [call('read_file', { path: 'notes.txt' })] },
  {
    emit: [
      call('write_file', { path: 'notes.txt', content: changed }),
      call('write_file', { path: 'new/b.txt', content: 'b\n' }),
    ],
  },
  { emit: [{ text: 'Done.' }] },
]

async function changedDesk(open: (options: { script: Step[] }) => Promise<Desk>): Promise<Desk> {
  const desk = await open({ script })
  await writeFile(join(desk.lab.workspace, 'notes.txt'), lines)
  await writeFile(join(desk.lab.workspace, '.ignore'), '*.log\n')
  await writeFile(join(desk.lab.workspace, 'old.log'), 'ignored')
  await desk.window.newSession()
  await desk.window.allowAll()
  await desk.window.send('Change the notes')
  await desk.window.settled('completed')
  return desk
}

test('F-907 F-908 F-911 FA-31 hunks are kept and undone with the mouse and from the keyboard', async ({ open }) => {
  const { lab, window } = await changedDesk(open)
  const changes = await window.tab('Changes')
  // What commands may change unseen is counted (F-1006).
  await expect(changes).toContainText('Not covered: 1 ignored file.')
  const middle = changes.getByRole('group', { name: 'Change at line 30' })
  await middle.getByRole('button', { name: 'Undo' }).click()
  await expect(middle).toBeHidden()
  await expect.poll(() => lab.read('notes.txt')).toBe(changed.replace('thirty', 'line 30'))

  const first = changes.getByRole('group', { name: 'Change at line 5', exact: true })
  await first.getByRole('button', { name: 'Keep' }).click()
  await expect(first).toContainText('Kept')

  // From the keyboard: the file before it is new and has no single hunks, so the third stop is the last change.
  await window.page.keyboard.press('Shift+F7')
  await window.page.keyboard.press('Shift+F8')
  await expect
    .poll(() => lab.read('notes.txt'))
    .toBe(changed.replace('thirty', 'line 30').replace('end\n', 'line 55\n'))
  await expect(first).toContainText('Kept')

  await changes.getByRole('button', { name: 'Undo all changes of new/b.txt' }).click()
  await expect
    .poll(async () => (await lab.git('status', '--porcelain')).trim())
    .toBe('?? .ignore\n?? notes.txt\n?? old.log')
  await expect(changes.getByRole('button', { name: 'Undo all changes of new/b.txt' })).toBeHidden()
})

test('F-908 F-910 a hunk changed by hand since shows both texts, and the file compares with now', async ({ open }) => {
  const { lab, window } = await changedDesk(open)
  const changes = await window.tab('Changes')
  const middle = changes.getByRole('group', { name: 'Change at line 30' })
  await expect(middle).toBeVisible()
  const byHand = changed.replace('thirty', 'by hand')
  await writeFile(join(lab.workspace, 'notes.txt'), byHand)
  await middle.getByRole('button', { name: 'Undo' }).click()
  const conflict = changes.getByRole('alert')
  await expect(conflict).toContainText('The file was not touched')
  await expect(conflict).toContainText('What it was')
  await expect(conflict).toContainText('line 30')
  expect(await lab.read('notes.txt')).toBe(byHand)

  await window.page.reload()
  await (await window.tab('Changes')).getByRole('button', { name: 'Changed since' }).click()
  await expect(changes).toContainText('Compared with now')
  await expect(changes).toContainText('by hand')
})

test('K-12 F-1008 F-1010 a turn is undone by a plan that is shown first, and brought forward again', async ({
  open,
}) => {
  const { lab, window } = await changedDesk(open)
  await window.button('Undo changes').click()
  const dialog = window.dialog('Undo the changes of this turn')
  await expect(dialog.getByRole('listitem')).toHaveText([/notes\.txt.*is set back/, /new\/b\.txt.*is deleted/])
  expect(await lab.read('notes.txt')).toBe(changed)
  await dialog.getByRole('button', { name: 'Undo 2 files' }).click()
  await expect(dialog).toBeHidden()
  expect(await lab.read('notes.txt')).toBe(lines)
  expect((await lab.git('status', '--porcelain')).trim()).toBe('?? .ignore\n?? notes.txt\n?? old.log')

  await window.message.fill('/redo')
  await window.page.keyboard.press('Enter')
  const redo = window.dialog('Redo the changes of this turn')
  await redo.getByRole('button', { name: 'Redo 2 files' }).click()
  await expect(redo).toBeHidden()
  expect([await lab.read('notes.txt'), await lab.read('new/b.txt')]).toEqual([changed, 'b\n'])

  // Edited by hand since: left alone unless the person, who can compare, says otherwise.
  await writeFile(join(lab.workspace, 'notes.txt'), changed.replace('line 2\n', 'by hand\n'))
  await window.button('Undo changes').click()
  const row = dialog.getByRole('listitem').filter({ hasText: 'notes.txt' })
  await expect(row).toContainText('changed since')
  await row.getByRole('button', { name: 'Compare' }).click()
  const would = row.getByRole('figure', { name: 'What would change in notes.txt' })
  await expect(would).toContainText('-by hand')
  await expect(would).toContainText('+line 2')
  await row.getByRole('checkbox', { name: 'Use the old version all the same' }).click()
  await dialog.getByRole('button', { name: 'Undo 2 files' }).click()
  await expect(dialog).toBeHidden()
  expect(await lab.read('notes.txt')).toBe(lines)
})
