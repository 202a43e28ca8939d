/** Reloads, second windows and a killed host: a window shows what it would have shown had it never been away. */
import { mending, task } from './mending.ts'
import type { Step } from './model-server/script.ts'
import { expect, type LatheWindow, test } from './window.ts'

/** Words that never repeat, so that a gap or a doubling shows. */
const words = Array.from({ length: 300 }, (_, at) => `word${at}`).join(' ')
const middle = words.indexOf('word150')
const firstHalf = { text: words.slice(0, middle), everyMs: 15 }
const secondHalf = { text: words.slice(middle), everyMs: 15 }
const streamed: Step = { emit: [firstHalf, secondHalf] }

/** The same words, of which the second half comes when the test says so: until then the turn runs. */
function held(): { step: Step; goOn(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { step: { emit: [firstHalf, { until: promise }, secondHalf] }, goOn: resolve }
}

/** All that the transcript shows, without the time that passes. */
async function shown({ transcript }: LatheWindow): Promise<string[]> {
  return (await transcript.getByRole('article').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())
}

/** Both show the same. */
async function expectSame(one: LatheWindow, other: LatheWindow): Promise<void> {
  await expect(async () => expect(await shown(other)).toEqual(await shown(one))).toPass({ timeout: 10_000 })
}

function answerOf({ transcript }: LatheWindow): Promise<string> {
  return transcript.evaluate(
    (log) => log.querySelector('[aria-label^="Answer"] .prose')?.textContent?.replaceAll(/\s+/g, ' ').trim() ?? '',
  )
}

test('T-200 a reload in the middle of an answer leaves no gap and repeats nothing', async ({ open }) => {
  const { step, goOn } = held()
  const { lab, window } = await open({ script: [step] })
  await window.newSession()
  await window.send('Count')
  await expect(window.transcript).toContainText('word20 ')
  await window.page.reload()
  await expect(window.entry('Answer, being written')).toContainText('word21')
  goOn()
  await window.settled('completed')
  await expect(window.entry('Answer')).toHaveText(words)
  await expect(window.entry('You: Count')).toHaveCount(1)
  expect(lab.asked()).toHaveLength(1)
})

test('T-201 a second window shows what the first one shows, from the middle of a turn to its end', async ({ open }) => {
  const { step, goOn } = held()
  const desk = await open({ script: [{ emit: [...step.emit!, { call: planCall }] }, ...rest] })
  const first = desk.window
  await first.newSession()
  await first.send('Count and plan')
  await expect(first.transcript).toContainText('word10 ')
  const second = await desk.another()
  await expect(second.transcript).toContainText('word10 ')
  goOn()
  for (let sample = 0; sample < 10; sample++) {
    const [one, other] = await Promise.all([answerOf(first), answerOf(second)])
    expect(one.startsWith(other) || other.startsWith(one)).toBe(true)
    expect(words.startsWith(one) && words.startsWith(other)).toBe(true)
  }
  await expect(first.entry('Tool call, shell')).toContainText('Waiting for you')
  await expectSame(first, second)
  expect(await answerOf(second)).toBe(words)
  await expect(second.approval).toContainText('echo together')
  await second.approval.getByRole('button', { name: 'Allow once' }).click()
  await first.settled('completed')
  await second.settled('completed')
  await expectSame(first, second)
  await second.send('Once more')
  await expect(first.entry('Answer: Once more, then.')).toBeVisible()
  await first.settled('completed')
  await expectSame(first, second)
})

const planCall = {
  name: 'update_plan',
  args: {
    entries: [
      { text: 'Count', state: 'done' },
      { text: 'Say it', state: 'active' },
    ],
  },
}
const rest: Step[] = [
  { emit: [{ call: { name: 'shell', args: { command: 'echo together' } } }] },
  { emit: [{ text: 'Counted.' }] },
  { emit: [{ text: 'Once more, then.' }] },
]

test('K-19 an approval waits over a reload and is answered in another window, where the first one sees it', async ({
  open,
}) => {
  const desk = await open({ script: mending('ms') })
  await desk.window.newSession()
  await desk.window.send(task)
  await expect(desk.window.approval).toContainText('Make this change?')
  await desk.window.page.reload()
  await expect(desk.window.approval).toContainText('return n * h;')
  const other = await desk.another()
  await other.approval.getByRole('button', { name: 'Allow once' }).click()
  for (const window of [desk.window, other]) await expect(window.approval).toContainText('Run this command?')
  await desk.window.approval.getByRole('button', { name: 'Allow once' }).click()
  for (const window of [desk.window, other]) await window.settled('completed')
  expect(await desk.lab.testsPass()).toBe(true)
})

test('K-18 a click on a card that another window has answered says so and changes nothing', async ({ open }) => {
  const desk = await open({
    script: [
      { emit: [{ call: { name: 'shell', args: { command: 'echo ran >> ran.txt' } } }] },
      { emit: [{ text: 'Done.' }] },
    ],
  })
  await desk.window.newSession()
  await desk.window.send('Run it')
  await expect(desk.window.approval).toBeVisible()

  // A window whose line is slow: what the host says reaches it only later.
  let hear = () => {}
  let deaf = false
  const slow = await desk.another(async (page) => {
    await page.routeWebSocket(/\/socket/, (socket) => {
      const server = socket.connectToServer()
      const held: (string | Buffer)[] = []
      server.onMessage((message) => (deaf ? held.push(message) : socket.send(message)))
      hear = () => {
        deaf = false
        for (const message of held.splice(0)) socket.send(message)
      }
    })
  })
  const allow = slow.approval.getByRole('button', { name: 'Allow once' })
  await expect(allow).toBeEnabled()
  deaf = true
  await desk.window.approval.getByRole('button', { name: 'Deny', exact: true }).click()
  await desk.window.settled('completed')
  await allow.click()
  hear()
  await expect(slow.page.getByText('The answer was not taken')).toBeVisible()
  await expect(slow.approval).toBeHidden()
  await slow.settled('completed')
  await expect(slow.entry('Tool call, shell')).toContainText('Denied')
  expect((await desk.lab.git('status', '--porcelain')).trim()).toBe('')
})

test('S-40 S-43 SA-11 a host killed in mid turn: the window says so and stays readable, and its next address has all of it and goes on', async ({
  open,
}) => {
  const desk = await open({ script: [{ emit: [{ text: 'So far I know this' }, { hang: true }] }] })
  const { lab, window } = desk
  await window.newSession()
  await window.send('Find out')
  await expect(window.entry('Answer')).toContainText('So far I know this')
  await desk.killHost()
  await expect(window.page.getByText('Reconnecting to Lathe.')).toBeVisible()
  await expect(window.entry('Answer')).toContainText('So far I know this')
  await window.message.fill('A draft typed meanwhile')
  await expect(window.message).toHaveValue('A draft typed meanwhile')

  const address = await desk.serveAgain()
  await expect(window.page.getByText('Open the address that “lathe serve” printed last.')).toBeVisible()
  // Refused for good, and still there to be read and written in.
  await expect(window.entry('Answer')).toContainText('So far I know this')
  await window.message.fill('A draft typed meanwhile, refused')
  await window.message.fill('A draft typed meanwhile')
  // In the same tab, as a person would: the page is not loaded again, and keeps what was typed.
  await window.page.goto(address)
  await expect(window.message).toHaveValue('A draft typed meanwhile')
  const card = window.transcript.getByRole('region', { name: 'Interrupted turn' })
  await expect(card).toContainText('Interrupted, nothing is running')
  await expect(window.entry('Answer')).toContainText('So far I know this')
  expect(lab.asked()).toHaveLength(1)

  lab.script([{ emit: [{ text: 'And now I know it all.' }] }])
  await card.getByRole('button', { name: 'Continue' }).click()
  await window.settled('completed')
  await expect(card).toBeHidden()
  await expect(window.transcript).toContainText('Continued')
  await expect(window.entry('Answer')).toContainText(['So far I know this', 'And now I know it all.'])
  expect(lab.asked()).toHaveLength(2)
})

test('T-194 the card of an interrupted turn offers Continue, Retry and Dismiss; Retry sends the message again', async ({
  open,
}) => {
  const desk = await open({
    script: [{ emit: [{ text: 'So far' }, { hang: true }] }, { emit: [{ text: 'All of it.' }] }],
  })
  const { window } = desk
  await window.newSession()
  await window.send('Find out')
  await expect(window.entry('Answer')).toContainText('So far')
  await desk.killHost()
  await window.page.goto(await desk.serveAgain())
  const card = window.transcript.getByRole('region', { name: 'Interrupted turn' })
  await expect(card.getByRole('button')).toHaveText(['Continue', 'Retry', 'Dismiss'])
  await expect(window.sessions).toContainText('Interrupted')
  await card.getByRole('button', { name: 'Retry' }).click()
  await expect(window.entry('Answer: All of it.')).toBeVisible()
  await expect(card).toBeHidden()
  await expect(window.entry('Earlier attempt, interrupted')).toBeVisible()
  await expect(window.entry('You: Find out')).toHaveCount(1)
})

test('K-29 a turn goes on while no window is open, and the next window has all of it', async ({ open }) => {
  const { step, goOn } = held()
  const desk = await open({ script: [step, { emit: [{ text: 'And on.' }] }] })
  const { lab, window } = desk
  await window.newSession()
  await window.send('Count')
  await expect(window.transcript).toContainText('word5 ')
  await window.message.fill('and then go on')
  await window.button('Queue').click()
  await expect(window.page.getByRole('list', { name: 'Queued messages' })).toContainText('and then go on')
  await window.page.close()
  goOn()
  await expect.poll(() => lab.asked().length, { timeout: 30_000 }).toBe(2)
  const next = await desk.another()
  await next.sessions
    .getByRole('button', { name: /Count|scripted title/ })
    .first()
    .click()
  await expect(next.entry('Answer')).toHaveText([words, 'And on.'])
})

test('K-15 a window and `lathe run --session` on one session: both see one order of the same turns', async ({
  open,
}) => {
  const desk = await open({ script: [{ emit: [{ text: 'From the window.' }] }, streamed] })
  const { lab, window } = desk
  await window.newSession()
  await window.send('Begin')
  await window.settled('completed')
  const sessionId = new URL(window.page.url()).hash.replace('#session=', '')
  const run = lab.start(['run', '--session', sessionId, '--json', 'Count'])
  await expect(window.entry('You: Count')).toBeVisible()
  await expect(window.entry('Answer').last()).toContainText('word5 ')
  expect((await run.ended).code).toBe(0)
  await expect(window.entry('Answer')).toHaveText(['From the window.', words])
  await expect(window.entry('Turn completed')).toHaveCount(2)
  const events = run.lines
    .slice(1)
    .map((line) => JSON.parse(line) as { type: string; seq: number; item?: { id: string } })
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => events[0]!.seq + at))
  const rows = await window.transcript.evaluate((log) =>
    [...log.querySelectorAll('article')].map((row) => row.dataset['row']),
  )
  const put = [...new Set(events.flatMap(({ type, item }) => (type === 'item.put' && item ? [item.id] : [])))]
  expect(rows.filter((id) => put.includes(id!))).toEqual(put)
})
