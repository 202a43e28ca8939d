/** Long sessions: only what is near is drawn and held, and the place of the reader is kept whatever happens around it. */
import { openStorage } from '../main/storage/open-storage.ts'
import type { Lab } from './lab.ts'
import { storeSession, storeWorkspace } from './long-session.ts'
import { expect, type LatheWindow, test } from './window.ts'

const says = (text: string) => ({ emit: [{ text }] })

/** The workspace with a stored session of `count` entries in it. */
async function withLongSession(lab: Lab, count: number): Promise<string> {
  const storage = await openStorage({ home: lab.home })
  const { workspace } = lab
  await storeWorkspace(storage, workspace)
  await storeSession(storage, { workspace, title: 'A long session', count, length: 300 })
  await storage.close()
  return workspace
}

/** Scrolls as by hand, step by step, until `done`; answers the most entries mounted meanwhile and all positions seen. */
async function scrollTo(window: LatheWindow, direction: 'up' | 'down'): Promise<{ mounted: number; seen: number[] }> {
  return await window.transcript.evaluate(async (log, way) => {
    const seen = new Set<number>()
    let mounted = 0
    for (let still = 0; still < 30;) {
      const rows = [...log.querySelectorAll('article')]
      mounted = Math.max(mounted, rows.length)
      for (const row of rows) seen.add(Number(row.textContent.match(/Entry (\d+)\./)?.[1] ?? -1))
      const top = log.scrollTop
      log.scrollTop += way === 'up' ? -500 : 500
      await new Promise(requestAnimationFrame)
      const edge = rows.at(way === 'up' ? 0 : -1)
      const reached =
        way === 'up' ? edge?.ariaPosInSet === '1' : Number(edge?.ariaPosInSet) >= Number(edge?.ariaSetSize)
      still = reached && Math.abs(log.scrollTop - top) < 1 ? still + 1 : 0
    }
    return { mounted, seen: [...seen] }
  }, direction)
}

/** Where an entry stands: pixels below the top of the transcript. */
async function placeOf(window: LatheWindow, text: string): Promise<number> {
  const [log, entry] = await Promise.all([
    window.transcript.boundingBox(),
    window.transcript.getByRole('article').filter({ hasText: text }).boundingBox(),
  ])
  return entry!.y - log!.y
}

test('SA-24 S-153 K-14 a search hit far up opens there, and scrolling reaches both ends over each entry once', async ({
  open,
}) => {
  test.setTimeout(180_000)
  const count = 1_000
  const { window } = await open({ folder: (lab) => withLongSession(lab, count), limitMs: 180_000 })
  await window.sessions.getByText('A long session').click()
  await expect(window.entry('Answer: Entry 998.')).toBeVisible()
  await window.page.keyboard.press('ControlOrMeta+Shift+F')
  await window.dialog('Search').getByRole('combobox').fill('"Entry 38."')
  await window.dialog('Search').getByRole('option').first().click()
  await expect(window.entry('Answer: Entry 38.')).toBeFocused()
  await expect.poll(() => window.page.evaluate(() => CSS.highlights.get('found')?.size ?? 0)).toBeGreaterThan(0)

  const up = await scrollTo(window, 'up')
  const down = await scrollTo(window, 'down')
  const seen = new Set([...up.seen, ...down.seen])
  // Calls between two texts are single lines without their words until they are opened.
  const spoken = Array.from({ length: count }, (_, at) => at).filter((at) => at % 20 === 0 || (at % 20) % 3 !== 1)
  expect(spoken.filter((at) => !seen.has(at))).toEqual([])
  expect(Math.max(up.mounted, down.mounted)).toBeLessThanOrEqual(150)
})

test('S-71 a reload far up in a long session stands at the same pixel, and End leads back', async ({ open }) => {
  const { window } = await open({ folder: (lab) => withLongSession(lab, 1_200) })
  await window.sessions.getByText('A long session').click()
  await expect(window.entry('Answer: Entry 1198.')).toBeVisible()
  await window.page.keyboard.press('ControlOrMeta+Shift+F')
  await window.dialog('Search').getByRole('combobox').fill('"Entry 38."')
  await window.dialog('Search').getByRole('option').first().click()
  await expect(window.entry('Answer: Entry 38.')).toBeFocused()
  const kept = () =>
    window.page.evaluate(() => Object.values(sessionStorage).find((value) => value.includes('rowId')) ?? '')
  await expect.poll(kept).not.toBe('')
  const before = await kept()
  await window.transcript.evaluate((log) => void (log.scrollTop -= 40))
  await expect.poll(kept).not.toBe(before)
  const place = await placeOf(window, 'Entry 38.')
  await window.page.reload()
  await expect(window.entry('Answer: Entry 38.')).toBeVisible()
  await expect.poll(() => placeOf(window, 'Entry 38.').then((now) => Math.abs(now - place))).toBeLessThanOrEqual(1)
  await expect(window.entry('Answer: Entry 1198.')).toHaveCount(0)

  await window.page.getByRole('button', { name: /^Jump to latest/ }).click()
  await expect(window.entry('Answer: Entry 1198.')).toBeVisible()
})

test('S-67 a reader who looks back is not moved by what is written; the end says how much came and leads there', async ({
  open,
}) => {
  const call = { call: { name: 'find_files', args: { pattern: '*.js' } } }
  const lookedBack = Promise.withResolvers<void>()
  const { window } = await open({
    folder: (lab) => withLongSession(lab, 200),
    script: [
      { emit: [{ text: 'First new words. ' }, { until: lookedBack.promise }, { words: 600, everyMs: 2 }, call] },
      says('Done at last.'),
    ],
  })
  await window.sessions.getByText('A long session').click()
  await expect(window.entry('Answer: Entry 198.')).toBeVisible()
  await window.send('Say a lot')
  await expect(window.transcript).toContainText('First new words.')
  await window.transcript.evaluate((log) => void (log.scrollTop -= 600))
  await expect(window.page.getByRole('button', { name: /^Jump to latest/ })).toBeVisible()
  const place = await placeOf(window, 'Entry 195.')
  lookedBack.resolve()
  const moved: number[] = []
  while (!(await window.button('Stop').isHidden())) moved.push((await placeOf(window, 'Entry 195.')) - place)
  moved.push((await placeOf(window, 'Entry 195.')) - place)
  expect(Math.max(...moved.map(Math.abs))).toBeLessThanOrEqual(1)
  const jump = window.page.getByRole('button', { name: /^Jump to latest/ })
  await expect(jump.getByLabel('2 new entries')).toBeVisible()
  await jump.click()
  await expect(window.entry('Turn completed').last()).toBeVisible()
  await expect(window.entry('Answer: Done at last.')).toBeVisible()
  await expect(jump).toBeHidden()
})

test('a session that opens stands under its own title from the first frame, and claims nothing it does not know', async ({
  open,
}) => {
  const { window } = await open({ folder: (lab) => withLongSession(lab, 400) })
  await expect(window.sessions.getByText('A long session')).toBeVisible()
  const seen = await window.page.evaluate(async () => {
    const texts = new Set<string>()
    const row = [...document.querySelectorAll<HTMLElement>('[aria-label="Sessions"] button')].find((button) =>
      button.textContent.includes('A long session'),
    )!
    row.click()
    while (!document.querySelector('[role="log"] article')) {
      await new Promise(requestAnimationFrame)
      const title = document.querySelector('main h2')?.textContent
      if (title) texts.add(title)
      const opening = document.querySelector('[role="log"]') === null
      if (opening && document.querySelector('aside')?.textContent.includes('No changes yet'))
        texts.add('No changes yet')
    }
    return [...texts]
  })
  expect(seen).toEqual([expect.stringMatching(/^A long session/)])
})

test('S-67 S-71 answers of many blocks that are scrolled through move by that much and no more, slice after slice', async ({
  open,
}) => {
  test.setTimeout(120_000)
  const { window } = await open({
    folder: async (lab) => {
      const storage = await openStorage({ home: lab.home })
      await storeWorkspace(storage, lab.workspace)
      await storeSession(storage, {
        workspace: lab.workspace,
        title: 'A rich session',
        count: 200,
        length: 4_000,
        rich: true,
      })
      await storage.close()
      return lab.workspace
    },
    limitMs: 120_000,
  })
  await window.sessions.getByText('A rich session').click()
  await expect(window.entry('Answer: Entry 198.')).toBeVisible()
  // Step by step up: what is in sight after a step is what was in sight before it, that much lower, never empty.
  const faults = await window.transcript.evaluate(async (log) => {
    const faults: string[] = []
    const step = 120
    const inSight = () => {
      const { top, bottom } = log.getBoundingClientRect()
      return new Map(
        [...log.querySelectorAll<HTMLElement>('article :is(h2, p, figure, table)')].flatMap((block) => {
          const place = block.getBoundingClientRect()
          return place.bottom > top + step && place.top < bottom - step ? [[block, place.top] as const] : []
        }),
      )
    }
    for (let at = 0; at < 150; at++) {
      // Who scrolls stops where nothing is loaded yet.
      while (log.scrollTop < step && log.querySelector('article')?.ariaPosInSet !== '1')
        await new Promise(requestAnimationFrame)
      const before = inSight()
      log.scrollTop -= step
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
      const after = inSight()
      const moved = [...after].flatMap(([block, place]) => (before.has(block) ? [place - before.get(block)!] : []))
      if (moved.length === 0) faults.push(`${at}: nothing of what was in sight is left`)
      const off = moved.filter((by) => Math.abs(by - step) > 1)
      if (off.length > 0) faults.push(`${at}: moved by ${off.join(' ')}`)
    }
    return faults
  })
  expect(faults).toEqual([])
})
