/** The composer: what each key does, what is recalled, what stands above and below the text, what a command answers. */
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LatheWindow } from './window.ts'
import { messagesOf } from './model-server/script.ts'
import { expect, test } from './window.ts'

const says = (text: string) => ({ emit: [{ text }] })
const hangs = (text: string) => ({ emit: [{ text }, { hang: true as const }] })

const steers = ({ page }: LatheWindow) => page.getByRole('list', { name: 'Steers' }).getByRole('listitem')
const queued = ({ page }: LatheWindow) => page.getByRole('list', { name: 'Queued messages' }).getByRole('listitem')

/** Keys one after another in one instant, before anything they ask for can have come. */
const pressAtOnce = ({ message }: LatheWindow, keys: string[]) =>
  message.evaluate((field, pressed) => {
    for (const key of pressed)
      field.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  }, keys)

test('SA-25 S-102 while a turn runs Enter steers, Ctrl+Enter and Tab queue, Esc closes a menu first and stops then', async ({
  open,
}) => {
  const { window } = await open({ script: [hangs('Working on it')] })
  const { keyboard } = window.page
  await window.newSession()
  await window.send('Begin')
  await expect(window.entry('Answer')).toContainText('Working on it')

  await window.message.fill('a steer')
  await keyboard.press('Enter')
  await expect(steers(window)).toHaveText([/a steer/])
  await window.message.fill('first follow-up')
  await keyboard.press('ControlOrMeta+Enter')
  await expect(queued(window)).toHaveText([/first follow-up/])
  await window.message.fill('second follow-up')
  await keyboard.press('Tab')
  await expect(queued(window)).toHaveText([/first follow-up/, /second follow-up/])
  await expect(window.message).toBeFocused()

  // With nothing typed Tab moves on, Shift+Tab always does.
  await keyboard.press('Tab')
  await expect(window.message).not.toBeFocused()
  await window.message.fill('text')
  await keyboard.press('Shift+Tab')
  await expect(window.message).not.toBeFocused()
  await expect(queued(window)).toHaveCount(2)

  // What an input method composes with is its own.
  await window.message.evaluate((field) => {
    for (const key of ['Enter', 'Tab', 'Escape'])
      field.dispatchEvent(new KeyboardEvent('keydown', { key, isComposing: true, bubbles: true, cancelable: true }))
  })
  await expect(window.message).toHaveValue('text')
  await expect(queued(window)).toHaveCount(2)
  await expect(window.button('Stop')).toBeVisible()

  await window.message.fill('')
  await window.message.pressSequentially('/st')
  const menu = window.page.getByRole('listbox', { name: 'Commands' })
  await expect(menu).toBeVisible()
  await keyboard.press('Escape')
  await expect(menu).toBeHidden()
  await expect(window.button('Stop')).toBeVisible()
  await keyboard.press('Escape')
  await window.settled('stopped')
})

test('SA-26 S-103 recall goes back and forth over the draft, and sends anew without taking anything back', async ({
  open,
}) => {
  const { window } = await open({ script: [says('One.'), says('Two.'), says('Three.'), says('Four.')] })
  const { keyboard } = window.page
  await window.newSession()
  for (const text of ['older prompt', 'newer prompt']) {
    await window.send(text)
    await window.settled('completed')
    await expect(window.entry('Turn completed')).toHaveCount(text === 'older prompt' ? 1 : 2)
  }
  await window.message.fill('half')
  for (const [key, value] of [
    ['ArrowUp', 'newer prompt'],
    ['ArrowUp', 'older prompt'],
    ['ArrowDown', 'newer prompt'],
    ['ArrowDown', 'half'],
    ['ArrowUp', 'newer prompt'],
    ['ArrowUp', 'older prompt'],
  ] as const) {
    await keyboard.press(key)
    await expect(window.message).toHaveValue(value)
  }
  await keyboard.press('Enter')
  await expect(window.entry('Answer: Three.')).toBeVisible()
  await expect(window.entry('You: older prompt')).toHaveCount(2)
  // Keys that come before the prompts do are for what they bring.
  await window.message.fill('half')
  await pressAtOnce(window, ['ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowUp', 'Enter'])
  await expect(window.entry('Answer: Four.')).toBeVisible()
  await expect(window.entry('You: newer prompt')).toHaveCount(2)
  await expect(window.entry('You: half')).toHaveCount(0)
  await expect(window.transcript.getByText('set aside')).toHaveCount(0)
})

test('SA-27 S-104 after Stop what was steered stands once before what is being typed, the queue is listed and waits', async ({
  open,
}) => {
  const desk = await open({ script: [hangs('Working on it')] })
  const { lab, window } = desk
  await window.newSession()
  await window.send('Begin')
  await expect(window.entry('Answer')).toContainText('Working on it')
  const other = await desk.another()
  await expect(other.entry('Answer')).toContainText('Working on it')
  for (const text of ['first steer', 'second steer']) {
    await window.message.fill(text)
    await window.button('Steer now').click()
  }
  await window.message.fill('a follow-up')
  await window.button('Queue').click()
  await expect(queued(other)).toHaveText([/a follow-up/])
  await expect(steers(other)).toHaveText([/first steer/, /second steer/])
  await window.message.fill('being typed')
  await window.button('Stop').click()
  await window.settled('stopped')
  await expect(window.message).toHaveValue('first steer\n\nsecond steer\n\nbeing typed')
  await expect(steers(window)).toHaveCount(0)
  for (const each of [window, other]) {
    await expect(queued(each)).toHaveText([/a follow-up/])
    await expect(each.page.getByRole('region', { name: 'Queue' })).toContainText('Paused because you stopped the turn')
  }
  expect(lab.asked()).toHaveLength(1)
})

test('S-104 what waits is edited, reordered, steered with, started and taken back from its own line, by keyboard too', async ({
  open,
}) => {
  const { lab, window } = await open({ script: [hangs('Working on it'), says('Second done.'), says('First done.')] })
  const { keyboard } = window.page
  await window.newSession()
  await window.send('Begin')
  await expect(window.entry('Answer')).toContainText('Working on it')
  for (const text of ['one', 'two', 'three']) {
    await window.message.fill(text)
    await window.button('Queue').click()
  }
  await expect(queued(window)).toHaveText([/one/, /two/, /three/])
  await queued(window).nth(2).getByRole('button', { name: 'Move up' }).focus()
  await keyboard.press('Enter')
  await expect(queued(window)).toHaveText([/one/, /three/, /two/])
  await queued(window).nth(0).getByRole('button', { name: 'Edit' }).focus()
  await keyboard.press('Enter')
  await expect(window.message).toHaveValue('one')
  await window.message.fill('one, changed')
  await keyboard.press('Enter')
  await expect(queued(window)).toHaveText([/one, changed/, /three/, /two/])
  await queued(window).nth(1).getByRole('button', { name: 'Steer with this now' }).click()
  await expect(steers(window)).toHaveText([/three/])
  await expect(queued(window)).toHaveText([/one, changed/, /two/])
  await steers(window).getByRole('button', { name: 'Edit' }).click()
  await window.message.fill('three, changed')
  await keyboard.press('Enter')
  await expect(steers(window)).toHaveText([/three, changed/])
  await steers(window).getByRole('button', { name: 'Take back' }).click()
  await expect(steers(window)).toHaveCount(0)
  await expect(window.message).toHaveValue('three, changed')
  await window.message.fill('')
  await window.button('Stop').click()
  await window.settled('stopped')
  await queued(window).nth(1).getByRole('button', { name: 'Start this now' }).click()
  await expect(window.entry('Answer: Second done.')).toBeVisible()
  await expect(window.entry('You: two')).toBeVisible()
  // Started by the person, the queue goes on behind it.
  await expect(window.entry('Answer: First done.')).toBeVisible()
  expect(JSON.stringify(lab.asked()[1]!.body)).not.toContain('one, changed')
})

test('SA-28 S-107 an unknown name is not sent, a path is text, a doubled slash is a slash, and answers reach no model', async ({
  open,
}) => {
  const { lab, window } = await open({ script: [says('A path.'), says('A slash.'), says('On.')] })
  const { keyboard } = window.page
  await window.newSession()
  await window.message.fill('/histroy')
  await keyboard.press('Enter')
  await expect(window.page.getByText('/history', { exact: false }).first()).toBeVisible()
  await expect(window.message).toHaveValue('/histroy')
  expect(lab.asked()).toEqual([])
  await window.message.fill('/usr/bin/env')
  await keyboard.press('Enter')
  await expect(window.entry('Answer: A path.')).toBeVisible()
  await window.message.fill('//x')
  await keyboard.press('Enter')
  await expect(window.entry('Answer: A slash.')).toBeVisible()
  await expect(window.entry('You: /x')).toBeVisible()
  for (const [line, answer] of [
    ['/history 0', '1'],
    ['/model nope', 'There is no model "nope"'],
  ] as const) {
    await window.message.fill(line)
    await keyboard.press('Enter')
    await expect(window.transcript).toContainText(answer)
  }
  await window.message.fill('Go on')
  await keyboard.press('Enter')
  await expect(window.entry('Answer: On.')).toBeVisible()
  expect(lab.asked()).toHaveLength(3)
  const sent = JSON.stringify(lab.asked()[2]!.body)
  expect(sent).not.toContain('/history')
  expect(sent).not.toContain('nope')
})

test('S-103 S-112 a recalled prompt brings its mention back, which is told to the model anew', async ({ open }) => {
  const { lab, window } = await open({ script: [says('One.'), says('Two.')] })
  const { keyboard } = window.page
  const chips = window.page.getByRole('region', { name: 'Composer' }).getByRole('list', { name: 'Mentions' })
  await window.newSession()
  await keyboard.type('Look at @index')
  await expect(window.page.getByRole('listbox', { name: 'Mentions' }).getByRole('option').first()).toBeVisible()
  await keyboard.press('Enter')
  await keyboard.press('Enter')
  await window.settled('completed')
  await window.message.fill('half')
  await keyboard.press('ArrowUp')
  await expect(window.message).toHaveValue(/^Look at @index\.js/)
  await expect(chips).toContainText('index.js')
  await keyboard.press('ArrowDown')
  await expect(window.message).toHaveValue('half')
  await expect(chips).toHaveCount(0)
  await keyboard.press('ArrowUp')
  await expect(chips).toContainText('index.js')
  await keyboard.press('Enter')
  await expect(window.entry('Turn completed')).toHaveCount(2)
  const told = ({ body }: { body: unknown }) =>
    messagesOf(body).filter(({ text }) => text.startsWith('What "@index.js" in the message stands for')).length
  expect(lab.asked().map(told)).toContain(2)
})

test('S-171 a command line says what it is, is left by Esc, and is recalled as it was typed', async ({ open }) => {
  const { lab, window } = await open()
  const { keyboard } = window.page
  await window.newSession()
  const remark = window.page.getByText('Your own command, run without the agent')
  await window.message.pressSequentially('!echo left')
  await expect(remark).toBeVisible()
  await keyboard.press('Escape')
  await expect(remark).toBeHidden()
  await expect(window.message).toHaveValue('echo left')
  await window.message.fill('!echo seen-$((6 * 7))')
  await keyboard.press('Enter')
  await expect(window.entry('Your command')).toContainText('seen-42')
  await keyboard.press('ArrowUp')
  await expect(window.message).toHaveValue('!echo seen-$((6 * 7))')
  await keyboard.press('ArrowDown')
  await expect(window.message).toHaveValue('')
  await pressAtOnce(window, ['ArrowUp', 'Enter'])
  await expect(window.entry('Your command')).toHaveCount(2)
  expect(lab.asked()).toEqual([])
})

test('S-105 below the text each control has its name, and what cannot be sent says why and what mends it', async ({
  open,
}) => {
  const { window } = await open({ config: { providers: {}, model: undefined } })
  await window.newSession()
  const composer = window.page.getByRole('region', { name: 'Composer' })
  for (const name of [/^Model/, /^Approval mode/, /^Attach/])
    await expect(composer.getByRole('button', { name })).toBeVisible()
  await window.message.fill('hello')
  await expect(composer).toContainText('No model is chosen yet.')
  await expect(composer.getByRole('button', { name: 'Model: No model' })).toBeVisible()
  await window.message.press('Enter')
  await expect(window.message).toHaveValue('hello')
  await composer.getByRole('button', { name: 'Choose model' }).click()
  await expect(window.page.getByRole('dialog')).toBeVisible()
})

test('SA-29 S-109 /new starts beside and leaves this one; where it cannot, it changes nothing', async ({ open }) => {
  const { lab, window } = await open({ script: [says('First.'), says('Beside.')] })
  const { keyboard } = window.page
  await window.newSession()
  await window.send('Begin')
  await window.settled('completed')
  await window.message.fill('/new Look at it')
  await keyboard.press('Enter')
  await expect(window.entry('Answer: Beside.')).toBeVisible()
  await expect(window.entry('You: Begin')).toHaveCount(0)
  await expect(
    window.sessions.getByRole('listitem').filter({ hasText: /scripted title|Begin|Look at it/ }),
  ).toHaveCount(2)
  // The folder is away: nothing can be resolved, so nothing changes and nothing typed is lost.
  await rename(lab.workspace, `${lab.workspace}-away`)
  for (const line of ['/new Another', '/new ']) {
    await window.message.fill(line)
    await keyboard.press('Enter')
    await expect(window.page.getByText('No session was started.')).toBeVisible()
    await expect(window.message).toHaveValue(line)
    await expect(window.entry('You: Look at it')).toBeVisible()
  }
  expect(lab.asked()).toHaveLength(2)
})

test('SA-30 a file too large is named and nothing goes with it; a picture is known by its bytes, whatever its name', async ({
  open,
}) => {
  const { lab, window } = await open({ script: [says('Seen.')] })
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const text = { name: 'picture.txt', mimeType: 'text/plain', buffer: png }
  const outside = join(lab.folder, 'large.bin')
  await writeFile(outside, Buffer.alloc(51 * 1024 * 1024))
  const chips = window.page.getByRole('list', { name: 'Attachments' }).getByRole('listitem')
  const chooser = window.page.locator('input[type=file]')
  await window.newSession()
  await chooser.setInputFiles(text)
  await chooser.setInputFiles(outside)
  await expect(chips).toHaveCount(2)
  await expect(chips.filter({ hasText: 'large.bin' })).toContainText('larger than')
  await window.message.fill('Look')
  await window.button('Send').click()
  await expect(window.page.getByText('Remove the file that cannot be sent.')).toBeVisible()
  expect(lab.asked()).toEqual([])
  await window.button('Remove large.bin').click()
  await window.attached(1)
  await window.button('Send').click()
  await window.settled('completed')
  await expect(window.entry('You:').getByRole('img')).toBeVisible()
})
