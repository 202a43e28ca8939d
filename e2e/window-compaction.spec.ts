/** A long session in the window: older turns give way to a summary, which is seen, asked for, cancelled, and outlives all. */
import { join } from 'node:path'
import type { LabOptions } from './lab.ts'
import { messagesOf, type Step } from './model-server/script.ts'
import { expect, test, type LatheWindow } from './window.ts'

const instruction = 'Write a summary that will stand in its place'
const text = `## Goal of the work
Resumable uploads for large files.

## State now
Chunks are stored and checked; the client retries three times.

## Decisions and limits set by the person
- No new dependency.

## Exact identifiers
\`src/upload.ts\`, \`npm test -- upload\`

## Next action
Write the test for a broken connection.`
const summary = (more: Partial<Step> = {}): Step => ({ when: { contains: instruction }, emit: [{ text }], ...more })
const says = (words: string, input = 40_000): Step => ({ emit: [{ text: words }], usage: { input, output: 20 } })

/** What one request may hold is 54,976 tokens; from 49,478 on older turns give way. */
const config: LabOptions['config'] = (server) => ({
  providers: {
    lab: {
      kind: 'openai-compatible',
      baseUrl: server.baseUrl,
      models: [{ id: 'scripted', contextLength: 64_000, maxOutput: 8_000 }],
    },
  },
})
const question = (n: number) => `Question ${n}. ${'Please consider every part of it with care. '.repeat(300)}`

async function asked(window: LatheWindow, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n++) {
    await window.send(question(n))
    await expect(window.entry(`Answer: Answer ${n}`)).toBeVisible()
    await window.settled('completed')
  }
}

const answers = (from: number, to: number, input?: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => says(`Answer ${from + at}`, input))
const pictures = process.env['LATHE_SHOTS']

test('S-62 S-105 C-58 C-71 K-13 room is made between turns, in every window, and a reload shows it as it was', async ({
  open,
}) => {
  const held = Promise.withResolvers<void>()
  const slow = summary({ emit: [{ until: held.promise }, { text }] })
  const desk = await open({
    config,
    script: [...answers(1, 4, 43_000), ...answers(5, 5, 50_000), slow, says('Answer 6', 9_000)],
  })
  const { window, lab } = desk
  await window.newSession()
  await asked(window, 1, 4)
  const other = await desk.another()
  await expect(other.entry('Answer: Answer 4')).toBeVisible()
  await asked(window, 5, 5)
  const ring = window.page.getByRole('button', { name: /^Context: / })
  await expect(ring).toHaveAccessibleName(/50k of 55k tokens \(91 %\)/)
  for (const each of [window, other]) await expect(each.status).toContainText('Compacting context')
  await window.send('Go on, please.')
  await expect(window.button('Stop')).toBeVisible()
  if (pictures) await window.page.screenshot({ path: join(pictures, 'compacting.png') })
  held.resolve()
  for (const each of [window, other]) {
    await expect(each.entry('Context compacted')).toBeVisible()
    await expect(each.entry('Answer: Answer 6')).toBeVisible()
  }
  const sent = messagesOf(lab.asked().at(-1)!.body)
  expect(sent[1]!.text).toContain('Resumable uploads for large files.')
  expect(sent.at(-1)!.text).toBe('Go on, please.')

  await window.settled('completed')
  const mark = window.entry('Context compacted')
  await expect(mark).toContainText('Resumable uploads for large files. Chunks are stored')
  await mark.getByRole('button', { name: /Context compacted/ }).click()
  await expect(mark).toContainText('Made after a turn, by lab/scripted')
  await expect(mark.getByText('No new dependency.')).toBeVisible()
  if (pictures) {
    for (const look of ['light', 'dark'] as const) {
      await window.page.emulateMedia({ colorScheme: look })
      await window.page.screenshot({ path: join(pictures, `mark-${look}.png`) })
    }
  }
  await ring.click()
  const figures = window.page.getByRole('dialog', { name: 'Context' })
  await expect(figures).toContainText('of 55k tokens')
  await expect(figures).toContainText('From 49.5k on, older turns are summarised')
  if (pictures) {
    for (const look of ['light', 'dark'] as const) {
      await window.page.emulateMedia({ colorScheme: look })
      await window.page.screenshot({ path: join(pictures, `ring-${look}.png`) })
    }
  }
  await figures.getByRole('button', { name: 'What fills it' }).click()
  const tab = window.inspector.getByRole('tabpanel', { name: 'Context' })
  await expect(tab).toContainText(/older ones as a summary/)
  await expect(tab.getByText('Summary of older turns')).toBeVisible()
  if (pictures) await window.page.screenshot({ path: join(pictures, 'tab.png') })

  await mark.getByRole('button', { name: /Context compacted/ }).click()
  await window.page.reload()
  await expect(window.entry('Context compacted')).toContainText('Resumable uploads for large files. Chunks are stored')
  const opened = await desk.another()
  await expect(opened.entry('Answer: Answer 6')).toBeVisible()
  // It stands where the summary ends: behind the turns it covers, before the first that is whole.
  const order = await opened.transcript.getByRole('article').evaluateAll((all) => all.map((one) => one.ariaLabel ?? ''))
  const at = order.findIndex((label) => label.startsWith('Context compacted'))
  expect(order[at - 1]).toMatch(/^Turn completed/)
  expect(order[at + 1]).toMatch(/^You: Question [345]/)
})

test('T-100 C-70 a stopped turn leaves the summary running; it can be cancelled, and asked for again', async ({
  open,
}) => {
  const held = summary({ emit: [{ text: 'Half' }, { hang: true }] })
  const desk = await open({ config, script: [...answers(1, 4, 43_000), ...answers(5, 5, 50_000), held, summary()] })
  const { window, lab } = desk
  await window.newSession()
  await asked(window, 1, 5)
  await expect(window.status).toContainText('Compacting context')
  await window.send('Go on, please.')
  await expect(window.button('Cancel compaction')).toBeHidden()
  await expect(window.status).toContainText('Compacting context')
  await window.button('Stop').click()
  await expect(window.entry('Turn stopped')).toBeVisible()
  await expect(window.status).toContainText('Compacting context')
  await window.page.reload()
  await expect(window.status).toContainText('Compacting context')
  await window.button('Cancel compaction').click()
  await expect(window.status).toBeEmpty()
  await expect(window.entry('Context compacted')).toBeHidden()
  expect(lab.asked()).toHaveLength(6)

  await window.message.fill('/compact the names of files')
  await window.page.keyboard.press('Enter')
  await expect(window.entry('Context compacted')).toBeVisible()
  expect(messagesOf(lab.asked().at(-1)!.body).at(-1)!.text).toContain('keep especially: the names of files')
  await window.command('Compact the context')
  await expect(window.page.getByText('Nothing to compact')).toBeVisible()
})
