/** Scenes of `npm run shots` beside the main flow: reading, agents, trust, menus, and the window in other sizes and colours. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from '../e2e/model-server/script.ts'
import { call, settleMs, type Tour, wide } from './tour.ts'

const says = (text: string): Step => ({ emit: [{ text }] })

const reading = `## How the shares are computed

A bill of \`cents\` among \`people\` is divided with **whole cents only**. What is left over after the division is *never* dropped: it goes to the first people, one cent each.[^1] See [the test](test/split.js) and https://en.wikipedia.org/wiki/Largest_remainders_method.

### What was wrong

1. \`Math.floor\` was taken of each share.
2. Nothing looked at the remainder:
   - for 1000 among 3 it is **one** cent,
   - for 200 among 7 it is **four**.
3. The test compared shares, not their sum.

| Bill | People | Before | After |
| ---: | -----: | ------ | ----- |
| 10.00 | 3 | 3.33 3.33 3.33 | 3.34 3.33 3.33 |
| 2.00 | 7 | 0.28 × 7 | 0.29 × 4, 0.28 × 3 |
| 0.05 | 2 | 0.02 0.02 | 0.03 0.02 |

\`\`\`ts
/** Whole shares of a bill; together they are the bill. */
export function splitBill(cents: number, people: number): number[] {
  const share = Math.floor(cents / people)
  const odd = cents - share * people // what nobody would pay
  return Array.from({ length: people }, (_, at) => (at < odd ? share + 1 : share))
}
\`\`\`

> Rounding half to even would be fairer over many bills, and harder to explain at a table.

- [x] Shares differ by at most one cent
- [x] Their sum is the bill
- [ ] Amounts in a currency without cents

#### Next

Run \`node --test\` once more, then tag \`1.1.0\`. Mind that a very long path such as \`packages/split-the-bill/src/internal/rounding/largest-remainder.ts\` breaks where it must.

[^1]: In the order in which they were named.`

/** An answer with everything Markdown has, and output of commands that says much. */
export async function longAnswer(tour: Tour): Promise<void> {
  const { window } = tour
  tour.script(
    {
      emit: [
        { reasoning: '**Reading first**\n\nThe function is small. The tests say what it should do.' },
        { text: 'I read the code and its tests.' },
        call('read_file', { path: 'src/split.js' }),
        call('read_file', { path: 'test/split.js' }),
        call('find_files', { glob: '**/*.js' }),
        call('grep', { pattern: 'cents' }),
        call('shell', { command: 'node --test; git log --stat -1' }),
      ],
    },
    says(reading),
  )
  await window.newSession()
  await window.command('Approval mode: Allow everything')
  await window.send('Explain how the shares are computed, and what was wrong with them.')
  await tour.ended('completed')
  await tour.shot('reading-end')
  const group = window.transcript.getByRole('button', { name: /reads|searches/ }).first()
  if (await group.isVisible()) await group.click()
  const command = window.entry('Tool call, shell').first()
  await command.getByRole('button').first().click()
  await tour.shot('reading-tools')
  await window.transcript.focus()
  await tour.key('Home')
  await tour.shot('reading-start')
  await tour.key('ArrowDown')
  await tour.key('ArrowDown')
  await tour.shot('reading-focus')
  await window.command('Find in session')
  await window.page.keyboard.type('share')
  await tour.shot('find')
  await tour.key('Escape')
}

/** Agents of one's own in the settings and in the composer. */
export async function agents(tour: Tour): Promise<void> {
  const { window, desk } = tour
  const put = async (folder: string, name: string, text: string) => {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `${name}.md`), text)
  }
  const own = join(desk.lab.home, 'agents')
  await put(
    own,
    'review',
    '---\ndescription: Looks for mistakes and changes nothing\nmode: read-only\ntools: [read_file, grep]\n---\nName each mistake.\n',
  )
  await put(own, 'writer', '---\ndescription: Writes what people read\n---\nWrite.\n')
  await put(own, 'broken', 'Just text')
  await window.newSession()
  await window.page.evaluate(() => dispatchEvent(new Event('focus')))
  await window.button('Agent: built-in').click()
  await tour.shown(window.page.getByRole('menu'))
  await tour.shot('agent-menu')
  await tour.key('Escape')
  await tour.key('ControlOrMeta+,')
  await window.page.getByRole('tab', { name: 'Agents' }).click()
  await tour.shot('settings-agents-chosen')
  await tour.key('Escape')
  await window.button(/^Model:/).click()
  await tour.shown(window.page.getByRole('listbox'))
  await tour.shot('model-menu')
  await tour.key('Escape')
  await window
    .button(/^Approval mode:/)
    .first()
    .click()
  await tour.shown(window.page.getByRole('menu'))
  await tour.shot('mode-menu')
  await tour.key('Escape')
  await window.message.fill('@sp')
  await tour.shown(window.page.getByRole('listbox'))
  await tour.shot('mention-menu')
  await window.message.fill('!git status')
  await tour.shot('command-mode')
  await window.message.fill('')
}

/** A turn that hands parts of its work on. */
export async function subagents(tour: Tour): Promise<void> {
  const { window } = tour
  const of = (label: string, step: Step): Step => ({ when: { lastUserContains: `task: ${label}` }, ...step })
  const parent = (step: Step): Step => ({ when: { lastUserContains: 'Where is rounding' }, ...step })
  tour.script(
    parent({
      emit: [
        { text: 'Two look at it at once.' },
        ...['read the sources', 'read the tests'].map((label) => call('subagent', { label, task: `task: ${label}` })),
      ],
    }),
    of('read the sources', { emit: [{ text: 'I look.' }, call('read_file', { path: 'src/split.js' })] }),
    of('read the sources', { emit: [{ text: 'It rounds in `splitBill` and in `withTip`.' }] }),
    of('read the tests', { emit: [call('shell', { command: 'node --test' })] }),
    of('read the tests', { emit: [{ text: 'Three tests, all about shares.' }] }),
    parent(says('Rounding is in two places, and one of them is tested.')),
  )
  await window.newSession()
  await window.send('Where is rounding done, and is it tested?')
  await tour.shown(window.approval)
  await tour.shot('subagents-approval')
  await tour.allow()
  await tour.ended('completed')
  await tour.shot('subagents')
  await window.button('Open transcript of read the sources').click()
  await tour.shown(window.entry('Answer: It rounds in'))
  await tour.shot('subagent-transcript')
  await window.button('Back to the session').last().click()
}

/** A folder that is new here. */
export async function trust(tour: Tour): Promise<void> {
  const { window, desk } = tour
  const { page } = window
  const folder = join(desk.lab.folder, 'somebody-elses-project')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'AGENTS.md'), '# Read me\n')
  await window.command('Open folder')
  await page.getByRole('textbox', { name: 'Path' }).fill(folder)
  await tour.key('Enter')
  await page.getByRole('dialog').getByRole('button', { name: /^Open/ }).click()
  const question = page.getByRole('alertdialog', { name: 'Trust this folder?' })
  await tour.shown(question)
  await tour.shot('trust')
  await question.getByRole('button', { name: 'Only read' }).click()
  await tour.shown(page.getByText('This folder is not trusted'))
  await tour.shot('untrusted')
}

/** What a provider that refuses does to automatic work. */
export async function paused(tour: Tour): Promise<void> {
  const { window, desk } = tour
  tour.script(
    {
      emit: [
        call('shell', { command: 'until [ -e ../third ]; do sleep 0.1; done', yield_time_ms: 0, on_exit: 'wake' }),
      ],
    },
    says('I am woken when it ends.'),
    {
      repeat: 'always',
      error: { status: 402, code: 'insufficient_quota', message: 'You exceeded your current quota.' },
    },
  )
  await window.newSession()
  await window.command('Approval mode: Allow everything')
  await window.send('Build it and tell me when it is done.')
  await tour.ended('completed')
  await writeFile(join(desk.lab.folder, 'third'), '')
  await tour.shown(window.page.getByText('Automatic work with'))
  await tour.shot('provider-paused')
}

/** Menus and lists around the session. */
export async function menus(tour: Tour): Promise<void> {
  const { window } = tour
  const { page } = window
  await window.sessions.getByRole('button', { name: 'split-the-bill', exact: true }).click({ button: 'right' })
  await tour.shown(page.getByRole('menu'))
  await tour.shot('folder-menu')
  await tour.key('Escape')
  await window.transcript.locator('[data-row]').first().click({ button: 'right' })
  await tour.shown(page.getByRole('menu'))
  await tour.shot('row-menu')
  await tour.key('Escape')
  await page.getByRole('searchbox', { name: 'Filter sessions' }).fill('nothing like it')
  await tour.shot('filter-empty')
  await page.getByRole('searchbox', { name: 'Filter sessions' }).fill('')
  await window.command('Recently deleted sessions')
  await tour.shown(page.getByRole('dialog'))
  await tour.shot('deleted')
  await tour.key('Escape')
  await tour.key('ControlOrMeta+Shift+f')
  await page.getByRole('dialog').getByRole('combobox').fill('share')
  await tour.shown(page.getByRole('option'))
  await tour.shot('search-many')
  await page.getByRole('dialog').getByRole('combobox').fill('zebra crossing')
  await page.waitForTimeout(settleMs)
  await tour.shot('search-none')
  await tour.key('Escape')
  const row = window.entry('Tool call').first()
  if (await row.isVisible()) await row.hover()
  await page.getByRole('button', { name: 'Search in all sessions' }).first().hover()
  await page.waitForTimeout(900)
  await tour.plainShot('tooltip')
}

export async function narrow(tour: Tour): Promise<void> {
  const { page } = tour.window
  await page.setViewportSize({ width: 560, height: 860 })
  await tour.shot('narrow')
  await tour.window.button('Show sessions').click()
  await tour.shown(tour.window.sessions)
  await tour.shot('narrow-sessions')
  await tour.key('Escape')
  await tour.window.button('Show inspector').click()
  await tour.shown(tour.window.inspector)
  await tour.shot('narrow-inspector')
  await tour.key('Escape')
  await page.setViewportSize({ width: 820, height: 860 })
  await tour.shot('medium')
  await page.setViewportSize(wide)
}

/** The same window small, large, zoomed, in high contrast and in the system's forced colours. */
export async function sizes(tour: Tour): Promise<void> {
  const { window } = tour
  const { page } = window
  await window.sessions.getByRole('button', { name: /^Shares do not/ }).click()
  await page.setViewportSize({ width: 800, height: 600 })
  await tour.shot('size-800')
  await page.setViewportSize({ width: 1920, height: 1080 })
  await window.tab('Changes')
  await tour.shot('size-1920')
  await page.setViewportSize(wide)
  for (let time = 0; time < 5; time += 1) await window.command('Zoom in')
  await tour.shot('zoom')
  await window.command('Reset zoom')
  await page.emulateMedia({ forcedColors: 'active' })
  await tour.plainShot('forced-colours')
  await tour.key('ControlOrMeta+,')
  await tour.plainShot('forced-colours-settings')
  await tour.key('Escape')
  await page.emulateMedia({ forcedColors: 'none' })
  await window.command('Theme: high contrast')
  await tour.plainShot('high-contrast')
  await window.command('Theme: follow the system')
}
