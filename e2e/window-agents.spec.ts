/** Agents in the window: chosen in the composer, by a command and from the palette; what one that is broken says. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Lab } from './lab.ts'
import { expect, test } from './window.ts'

const says = (text: string) => ({ emit: [{ text }] })

async function put(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${name}.md`), text)
}
const local = (lab: Lab, name: string, text: string) => put(join(lab.workspace, '.lathe/agents'), name, text)
const own = (lab: Lab, name: string, text: string) => put(join(lab.home, 'agents'), name, text)

const review = '---\ndescription: Looks for mistakes\nmode: read-only\ntools: [read_file]\n---\nName each mistake.\n'

test('T-12 T-18 an agent is chosen in the composer with the keyboard, and its turn says so', async ({ open }) => {
  const { window, lab } = await open({ script: [says('Looked.'), says('As ever.')] })
  const { page } = window
  await window.newSession()
  // Nothing to choose: no control in the way.
  await expect(window.button(/^Agent:/)).toBeHidden()
  await local(lab, 'review', review)
  await own(lab, 'writer', '---\ndescription: Writes\n---\nWrite.\n')
  // The person comes back from their editor.
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await expect(window.button('Agent: built-in')).toBeVisible()
  await window.button('Agent: built-in').focus()
  await page.keyboard.press('Enter')
  const choice = page.getByRole('menuitemradio', { name: /^review/ })
  await expect(choice).toContainText('Looks for mistakes · of this folder, at most “Read only”, 1 tool')
  await expect(page.getByRole('menuitemradio', { name: /^writer/ })).toBeVisible()
  await page.keyboard.press('ArrowDown')
  await expect(choice).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(window.button('Agent: review')).toBeVisible()
  await expect(window.button('Approval mode: Read only')).toBeVisible()
  await window.send('Look at it')
  await window.settled('completed')
  await expect(window.transcript.getByText('review', { exact: true })).toBeVisible()
  const [asked] = lab.asked()
  expect(JSON.stringify(asked!.body)).toContain('Name each mistake.')
  expect((asked!.body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual([
    'read_file',
  ])

  await window.send('/agent built-in')
  await expect(window.button('Agent: built-in')).toBeVisible()
  // Typed, its name is completed, and the line is done with that.
  await window.message.pressSequentially('/agent re')
  await expect(page.getByRole('listbox', { name: 'Agents' }).getByRole('option')).toHaveText([/^review/])
  await page.keyboard.press('Enter')
  await expect(window.button('Agent: review')).toBeVisible()
  await expect(window.message).toHaveValue('')
  await window.command('Choose agent')
  await expect(choice).toBeVisible()
})

test('T-160 a chosen agent that is broken fails the turn, opens its file, and can be tried again', async ({ open }) => {
  const { window, lab } = await open({
    script: [says('It goes.')],
  })
  await local(lab, 'review', review)
  await window.newSession()
  await window.send('/agent review')
  await expect(window.button('Agent: review')).toBeVisible()
  await local(lab, 'review', review.replace('read-only', 'root'))
  await window.send('Look at it')
  await window.settled('failed')
  const card = window.transcript.getByRole('region', { name: 'The chosen agent cannot be used' })
  await expect(card).toContainText('The agent "review" cannot be used. mode is not one of read-only, ')
  await card.getByRole('button', { name: 'Open the file' }).click()
  await expect(window.inspector.getByText('mode: root')).toBeVisible()
  await local(lab, 'review', review)
  await card.getByRole('button', { name: 'Retry' }).click()
  await window.settled('completed')
  expect(lab.asked()).toHaveLength(1)
})

test('S-8 the settings list the agents there are, and say what is wrong with one', async ({ open }) => {
  const { window, lab } = await open({ folder: async () => null })
  const { page } = window
  await window.command('Settings')
  await page.getByRole('tab', { name: 'Agents' }).click()
  await expect(page.getByText('No agents yet')).toBeVisible()
  await own(lab, 'review', review)
  await own(lab, 'broken', 'Just text')
  await page.getByRole('tab', { name: 'General' }).click()
  await page.getByRole('tab', { name: 'Agents' }).click()
  const agents = page.getByRole('list', { name: 'Agents' }).getByRole('listitem')
  await expect(agents).toHaveCount(2)
  await expect(agents.first()).toContainText('It does not begin with front matter')
  await expect(agents.last()).toContainText('Looks for mistakes')
})
