/** Reviewing in the window: pictures before and after, comments that go to the agent, what was kept. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import type { Step } from './model-server/script.ts'
import { expect, type Desk, test } from './window.ts'

const call = (name: string, args: Record<string, unknown>) => ({ call: { name, args } })
const lines = Array.from({ length: 60 }, (_, at) => `line ${at + 1}\n`).join('')
const changed = lines.replace('line 5\n', 'five\n').replace('line 30\n', 'thirty\n')

async function picture(file: string, colour: string): Promise<void> {
  await sharp({ create: { width: 40, height: 30, channels: 3, background: colour } })
    .png()
    .toFile(file)
}

async function reviewed(open: (options: { script: Step[] }) => Promise<Desk>, after: Step[] = []): Promise<Desk> {
  const desk = await open({
    script: [
      { emit: [call('read_file', { path: 'notes.txt' })] },
      {
        emit: [
          call('write_file', { path: 'notes.txt', content: changed }),
          call('shell', { command: 'cp ../after.png logo.png; cp ../after.png new.png; rm old.png' }),
        ],
      },
      { emit: [{ text: 'Done.' }] },
      ...after,
    ],
  })
  const { lab, window } = desk
  await writeFile(join(lab.workspace, 'notes.txt'), lines)
  await picture(join(lab.workspace, 'logo.png'), 'teal')
  await picture(join(lab.workspace, 'old.png'), 'black')
  await picture(join(lab.folder, 'after.png'), 'orange')
  await window.newSession()
  await window.allowAll()
  await window.send('Change them')
  await window.settled('completed')
  return desk
}

test('F-904 a changed picture is shown before and after, beside each other and one over the other', async ({
  open,
}) => {
  const { window } = await reviewed(open)
  const changes = await window.tab('Changes')
  const logo = changes.getByRole('group', { name: 'Pictures of logo.png' })
  const drawn = (name: string) =>
    changes.getByRole('img', { name }).evaluate((image: HTMLImageElement) => [image.complete, image.naturalWidth])
  await expect.poll(() => drawn('logo.png, before')).toEqual([true, 40])
  await expect.poll(() => drawn('logo.png, after')).toEqual([true, 40])
  await expect(logo).toContainText('40 × 30')

  await logo.getByRole('button', { name: 'Overlay' }).click()
  const slider = logo.getByRole('slider', { name: 'How much of the picture before is shown' })
  await slider.focus()
  await window.page.keyboard.press('Home')
  await expect(slider).toHaveValue('0')
  await expect(logo.getByRole('img', { name: 'logo.png, before' })).toHaveCSS('clip-path', 'inset(0px 100% 0px 0px)')

  await expect.poll(() => drawn('new.png, after')).toEqual([true, 40])
  await expect(changes.getByRole('img', { name: 'new.png, before' })).toHaveCount(0)
  await changes.getByRole('list', { name: 'Changed files' }).getByRole('button', { name: 'old.png' }).click()
  await expect.poll(() => drawn('old.png, before')).toEqual([true, 40])
})

test('F-912 comments are written from the keyboard, kept over a reload, and reach the agent with the next message', async ({
  open,
}) => {
  const { lab, window } = await reviewed(open, [{ emit: [{ text: 'I see.' }] }])
  const changes = await window.tab('Changes')
  const { keyboard } = window.page
  await expect(changes.getByRole('group', { name: 'Change at line 5', exact: true })).toBeVisible()
  await keyboard.press('F7')
  await keyboard.press('F9')
  await expect(changes.getByRole('textbox', { name: 'Comment on line 5' })).toBeFocused()
  await keyboard.type('Say why.')
  await keyboard.press('ControlOrMeta+Enter')
  await expect(changes.getByRole('group', { name: 'Comment on line 5' })).toContainText('Say why.')
  await keyboard.press('F7')
  await keyboard.press('F9')
  await expect(changes.getByRole('textbox', { name: 'Comment on line 30' })).toBeFocused()
  await keyboard.type('Not this one')
  await keyboard.press('Escape')
  await expect(changes.getByRole('textbox', { name: 'Comment on line 30' })).toHaveCount(0)
  await changes.getByRole('group', { name: 'Change at line 30' }).getByRole('button', { name: 'Comment' }).click()
  await expect(changes.getByRole('textbox', { name: 'Comment on line 30' })).toBeFocused()
  await keyboard.type('Keep the number.')
  await changes.getByRole('button', { name: 'Add comment' }).click()

  const chips = window.page.getByRole('list', { name: 'Comments' })
  await expect(chips.getByRole('listitem')).toHaveCount(2)
  await chips.getByRole('button', { name: 'Remove the comment on notes.txt:30' }).click()
  await expect(chips.getByRole('listitem')).toHaveCount(1)
  await expect(changes.getByRole('group', { name: 'Comment on line 30' })).toHaveCount(0)

  await window.page.reload()
  await expect(chips.getByRole('button', { name: 'Comment on notes.txt:5: Say why.' })).toBeVisible()
  await expect(changes.getByRole('group', { name: 'Comment on line 5' })).toContainText('Say why.')
  await window.message.fill('Thanks.')
  await window.button('Send').click()
  await expect(window.entry('Answer').last()).toContainText('I see.')
  await expect(chips).toHaveCount(0)
  await expect(changes.getByRole('group', { name: 'Comment on line 5' })).toHaveCount(0)
  const said = JSON.stringify(lab.asked().at(-1)?.body)
  expect(said).toContain(String.raw`Thanks.\n\nOn the changes:\n\nnotes.txt:5\n> five\nSay why.`)
})

test('F-907 F-908 what was kept as a whole shows in the list of files, until its content differs', async ({ open }) => {
  const { window } = await reviewed(open)
  const changes = await window.tab('Changes')
  const row = changes
    .getByRole('list', { name: 'Changed files' })
    .getByRole('listitem')
    .filter({ hasText: 'notes.txt' })
  await expect(row).toBeVisible()
  await expect(row.getByRole('img', { name: 'Kept' })).toHaveCount(0)
  await changes.getByRole('button', { name: 'Keep all changes of notes.txt' }).click()
  await expect(row.getByRole('img', { name: 'Kept' })).toBeVisible()
  // How much of it is in sight is a matter of when the pictures above it came.
  await row.getByRole('button').click()
  const middle = changes.getByRole('group', { name: 'Change at line 30' })
  await expect(middle).toContainText('Kept')
  await middle.getByRole('button', { name: 'Undo' }).click()
  await expect(middle).toBeHidden()
  await expect(row.getByRole('img', { name: 'Kept' })).toHaveCount(0)
})

test('F-707 a patch that the model still writes shows its files and added lines; nothing is applied, Stop drops it', async ({
  open,
}) => {
  const fragment = (text: string, first = false) => ({
    callFragment: {
      index: 0,
      ...(first ? { id: 'call_patch', type: 'function' } : {}),
      function: { ...(first ? { name: 'apply_patch' } : {}), arguments: text },
    },
  })
  const desk = await open({
    script: [
      {
        emit: [
          fragment('{"patch":"*** Begin Patch\\n*** Add File: src/one.ts\\n+a\\n+b\\n', true),
          { delayMs: 400 },
          fragment('*** Update File: index.js\\n@@\\n+c\\n+d'),
          { delayMs: 400 },
          fragment('\\n+e'),
          { hang: true },
        ],
      },
    ],
  })
  const { lab, window } = desk
  await window.newSession()
  await window.allowAll()
  await window.send('Patch it')
  const card = window.page.getByRole('list', { name: 'Being written' })
  await expect(card.getByRole('listitem')).toHaveText([/src\/one\.ts.*\+2/, /index\.js.*\+2/])
  await expect(window.status).toContainText('Writing a patch of 2 files')
  await window.button('Stop').click()
  await window.settled('stopped')
  await expect(card).toHaveCount(0)
  expect((await lab.git('status', '--porcelain')).trim()).toBe('')
})

test('F-906 a file that was moved is one change, with both names and what differs', async ({ open }) => {
  const { lab, window } = await open({
    script: [
      { emit: [call('shell', { command: 'mv notes.txt moved.txt; sed -i s/^line.5$/five/ moved.txt' })] },
      { emit: [{ text: 'Done.' }] },
    ],
  })
  await writeFile(join(lab.workspace, 'notes.txt'), lines)
  await window.newSession()
  await window.allowAll()
  await window.send('Move it')
  await window.settled('completed')
  const changes = await window.tab('Changes')
  await expect(changes.getByRole('button', { name: /Renamed.*notes\.txt.*renamed to.*moved\.txt/ })).toBeVisible()
  await expect(changes).toContainText('1 file')
  await expect(changes).toContainText('five')
})
