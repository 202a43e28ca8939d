/**
 * `npm run shots`: pictures of every main state of the window, in light and in dark, into shots/; those whose names begin
 * with one of the words given to it, those of scenes given as `scene=NAME`, or all. A scripted model plays a small project's mending, so that nothing of the
 * person's own is seen and each run draws the same. The README's picture is `session-light`.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium, type Browser } from 'playwright'
import sharp from 'sharp'
import { openWeb } from '../e2e/host-under-test.ts'
import type { Lab } from '../e2e/lab.ts'
import type { Step } from '../e2e/model-server/script.ts'
import { Desk, type DeskOptions } from '../e2e/window.ts'
import { requireBrowser, sandboxArguments } from './browser.ts'
import { buildParts, isStale } from './build.ts'
import { root } from './steps.ts'
import { call, type Scene, settleMs, Tour, wide } from './tour.ts'
import { agents, longAnswer, menus, narrow, paused, sizes, subagents, trust } from './tour-scenes.ts'

const run = promisify(execFile)

const planned = ['Run the tests and read what fails', 'Give the odd cents away', 'Prove it with the tests']
const plan = (done: number) =>
  call('update_plan', {
    entries: planned.map((text, at) => ({ text, state: at < done ? 'done' : at === done ? 'active' : 'pending' })),
  })
const mended = `  const share = Math.floor(cents / people)
  const odd = cents - share * people
  return Array.from({ length: people }, (_, at) => (at < odd ? share + 1 : share))`
const broken = `  const share = Math.floor(cents / people)
  return Array.from({ length: people }, () => share)`
const task = 'The shares of a bill do not add up when it does not divide evenly. Find out why and mend it.'
const answer = `\`splitBill\` rounded every share down and lost the remainder: ten euros among three were **9.99**.

The odd cents now go to the first people, one each:

\`\`\`js
splitBill(1000, 3) // [334, 333, 333]
\`\`\`

- Shares never differ by more than one cent, and their sum is the bill.
- \`src/split.js\` is the only file that changed; all three tests pass.`
const mending: Step[] = [
  {
    emit: [
      { reasoning: '**Where the cents go**\n\nThree shares of 333 make 999, so one cent is lost to rounding down.' },
      { text: 'I will run the tests first, to see the fault with my own eyes. ' },
      plan(0),
      call('read_file', { path: 'src/split.js' }),
      call('grep', { pattern: 'splitBill' }),
    ],
    usage: { input: 2_310, output: 184 },
  },
  { emit: [call('shell', { command: 'node --test' })], usage: { input: 3_020, output: 41 } },
  {
    emit: [
      { text: 'Each share is rounded down, and nobody gets what is left over. ' },
      call('edit_file', { path: 'src/split.js', old_text: broken, new_text: mended }),
      plan(2),
    ],
    usage: { input: 3_850, output: 212 },
  },
  { emit: [call('shell', { command: 'node --test' })], usage: { input: 4_120, output: 38 } },
  { emit: [plan(3)], usage: { input: 4_420, output: 30 } },
  { emit: [{ text: answer }], usage: { input: 4_710, output: 196 } },
]

/** The window of the model is known, as it is for most. */
const config: DeskOptions['config'] = ({ baseUrl }) => ({
  providers: {
    lab: { kind: 'openai-compatible', baseUrl, models: [{ id: 'scripted', contextLength: 128_000, maxOutput: 8_000 }] },
  },
})

/** A small project in a folder of its own, as a person would have it. */
async function project(lab: Lab): Promise<string> {
  const folder = join(lab.folder, 'split-the-bill')
  await cp(join(root, 'assets/demo-workspace'), folder, { recursive: true })
  for (const args of [
    ['init', '--quiet', '--initial-branch=main'],
    ['add', '.'],
    ['-c', 'user.name=Lathe', '-c', 'user.email=lathe@localhost', 'commit', '--quiet', '--message=As found'],
  ])
    await run('git', ['-C', folder, ...args])
  // A prompt that is the same on every machine.
  await writeFile(join(lab.env['HOME']!, '.bashrc'), "PS1='$ '\n")
  return folder
}

/** First steps: no folder, no model. */
async function beginnings(tour: Tour): Promise<void> {
  await tour.shown(tour.window.page.getByRole('main', { name: 'Welcome' }))
  await tour.shot('welcome-first')
  await tour.window.button('Connect').click()
  await tour.shown(tour.window.page.getByRole('dialog'))
  await tour.shot('connect')
  await tour.window.button('Close').click()
  await tour.window.button('Open folder').last().click()
  await tour.shown(tour.window.dialog('Open folder'))
  await tour.shot('open-folder')
}

/** One turn from the task to the review, with its approvals. */
async function mainFlow(tour: Tour): Promise<void> {
  const { window } = tour
  await tour.shown(window.page.getByRole('main', { name: 'Welcome' }))
  await tour.shot('welcome')
  await window.newSession()
  await tour.shot('session-empty')
  tour.script(...mending)
  await window.send(task)
  await tour.shown(window.approval)
  await tour.shot('approval-command')
  await tour.allow()
  await tour.shown(window.approval.getByText('Make this change?'))
  await tour.shot('approval-change')
  await tour.allow()
  await tour.shown(window.approval.getByText('Run this command?'))
  await tour.allow()
  await tour.ended('completed')
  await window.tab('Changes')
  await tour.shot('session')
  await window.command('Changes: side by side')
  await tour.widen(340)
  await tour.shot('changes-side-by-side')
  await window.command('Changes: unified')
  await tour.shot('changes-unified')
  await tour.widen(-290)
  await window.tab('Plan')
  await tour.shot('plan')
  const files = await window.tab('Files')
  await files.getByRole('treeitem', { name: 'src' }).click()
  await files.getByRole('treeitem', { name: 'split.js' }).click()
  // The rules of a language are loaded when its first file is.
  await tour.shown(files.locator('.view-line .mtk10'))
  await tour.shot('files')
  await window.tab('Context')
  await tour.shot('context')
  await tour.key('ControlOrMeta+Alt+b')
  const cards = ['Thought', 'Tool call, read file', 'Tool call, edit file'].map((name) => window.entry(name).first())
  for (const card of cards) await card.getByRole('button').first().click()
  await tour.shot('session-without-inspector')
  for (const card of cards) await card.getByRole('button').first().click()
  await tour.key('ControlOrMeta+Alt+b')
  await window.tab('Changes')
}

/** A turn that is under way: cards with running time, text as it comes, what waits behind it. */
async function running(tour: Tour): Promise<void> {
  const { window } = tour
  await window.newSession()
  await window.command('Approval mode: Allow everything')
  tour.script(
    {
      emit: [
        { reasoning: '**What a release needs**\n\nThe changelog first.' },
        { text: 'I begin with what changed since 1.0.' },
        plan(1),
      ],
    },
    {
      emit: [
        call('shell', {
          command: 'for step in lint types unit; do echo "ok $step"; done; until [ -e ../gate ]; do sleep 0.1; done',
        }),
      ],
    },
    {
      emit: [
        { text: 'Everything is green. The changelog now names both changes, and **the version is**' },
        { hang: true },
      ],
    },
  )
  await window.send('Prepare the 1.1 release: changelog, version, tag.')
  await tour.shown(window.status.getByText('Running'))
  await window.message.fill('Leave the tag to me')
  await window.button('Steer now').click()
  for (const text of ['Then write the announcement', 'And update the website']) {
    await window.message.fill(text)
    await window.button('Queue').click()
  }
  await tour.shot('running')
  await writeFile(join(tour.desk.lab.folder, 'gate'), '')
  await tour.shown(window.transcript.getByText('the version is'))
  await tour.shot('streaming')
  await window.button('Stop').click()
  await tour.ended('stopped')
  await tour.shot('stopped-with-queue')
}

async function others(tour: Tour): Promise<void> {
  const { window } = tour
  await tour.turn('Choose a licence for this package.', {
    emit: [
      call('ask_person', {
        question: 'Which licence should the package have?',
        choices: ['MIT', 'Apache-2.0', 'GPL-3.0-or-later'],
      }),
    ],
  })
  await tour.shown(window.question)
  await tour.shot('question')
  await tour.turn('Format amounts in a currency, by locale.', {
    repeat: 'always',
    error: { status: 401, code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  })
  await tour.ended('failed')
  await tour.shot('error')
  await tour.dialog('ControlOrMeta+Shift+f', 'search-hints')
  await window.page.getByRole('dialog').getByRole('combobox').fill('odd cents')
  await tour.shown(window.page.getByRole('option'))
  await tour.shot('search')
  await tour.key('Escape')
  await tour.dialog('ControlOrMeta+Shift+p', 'palette-commands')
  await tour.key('Escape')
  await tour.key('ControlOrMeta+k')
  await window.dialog('Command palette').getByRole('combobox').fill('split')
  await tour.shown(window.page.getByRole('option', { name: /split\.js/ }))
  await tour.shot('palette-places')
  await tour.key('Escape')
  await tour.dialog('ControlOrMeta+Shift+m', 'models')
  await tour.key('Escape')
  await tour.dialog('ControlOrMeta+/', 'shortcuts')
  await tour.key('Escape')
  await tour.key('ControlOrMeta+,')
  const settings = window.dialog('Settings')
  await tour.shown(settings)
  for (const name of await settings.getByRole('tab').allInnerTexts()) {
    await settings.getByRole('tab', { name }).click()
    await tour.shot(`settings-${name.toLowerCase()}`)
  }
  await tour.key('Escape')
  await window.message.fill('/')
  await tour.shown(window.page.getByRole('listbox'))
  await tour.shot('slash-menu')
  await window.message.fill('')
  await window.sessions.getByRole('button', { name: /^Shares do not/ }).click({ button: 'right' })
  await tour.shown(window.page.getByRole('menu'))
  await tour.shot('session-menu')
  await tour.key('Escape')
  await window.sessions.getByRole('button', { name: /^Shares do not/ }).click()
  await window.message.click()
  await tour.shot('overview')
  await tour.key('Control+`')
  await tour.shown(window.terminal.getByRole('tab'))
  await window.page.waitForTimeout(settleMs)
  await window.page.keyboard.type('git status --short; git diff --stat; node --test 2>&1 | head -8')
  await tour.key('Enter')
  await window.page.waitForTimeout(4 * settleMs)
  await tour.shot('terminal')
  await tour.key('Control+`')
}

const picture = (file: string, colour: string) =>
  sharp({ create: { width: 320, height: 200, channels: 3, background: colour } })
    .png()
    .toFile(file)

/** What is done with changes and files: a comment, a picture before and after, the editor with a conflict. */
async function review(tour: Tour): Promise<void> {
  const { window } = tour
  const { page } = window
  const folder = join(tour.desk.lab.folder, 'split-the-bill')
  await picture(join(folder, 'logo.png'), '#1c7c7c')
  await picture(join(tour.desk.lab.folder, 'new.png'), '#b8860b')
  const tip = 'return Math.round(cents * (1 + percent / 100))'
  await tour.turn(
    'Refuse a negative tip, and take the new logo.',
    { emit: [call('read_file', { path: 'src/split.js' })] },
    {
      emit: [
        call('edit_file', {
          path: 'src/split.js',
          old_text: tip,
          new_text: `if (percent < 0) throw new RangeError('A tip is not negative.')\n  ${tip}`,
        }),
        call('shell', { command: 'cp ../new.png logo.png' }),
      ],
    },
    { emit: [{ text: 'A negative tip is refused now, and the new logo is in its place.' }] },
  )
  for (const asked of ['Make this change?', 'Run this command?']) {
    await tour.shown(window.approval.getByText(asked))
    await tour.allow()
  }
  await tour.ended('completed')
  const changes = await window.tab('Changes')
  await tour.widen(200)
  await tour.shown(changes.getByRole('group', { name: /^Change at line/ }))
  await changes.getByRole('button', { name: 'Comment', exact: true }).first().click()
  await page.keyboard.type('And a tip over 100 percent?')
  await tour.shot('comment-writing')
  await tour.key('ControlOrMeta+Enter')
  await tour.shot('comment')
  await tour.shown(changes.getByRole('img', { name: 'logo.png, after' }))
  await tour.shot('pictures')
  await changes.getByRole('button', { name: 'Overlay' }).click()
  await tour.shot('pictures-overlay')
  const files = await window.tab('Files')
  await files.getByRole('searchbox', { name: 'Go to file' }).fill('README')
  await files.getByRole('list', { name: 'Found files' }).getByRole('button', { name: 'README.md' }).click()
  const pane = window.inspector.getByRole('region', { name: 'README.md', exact: true })
  await pane.getByRole('textbox', { name: 'Text of README.md' }).focus()
  await tour.key('ControlOrMeta+End')
  await page.keyboard.type('\nShares differ by at most one cent.')
  await tour.shown(pane.getByText('Unsaved'))
  await tour.shot('editor')
  await writeFile(join(folder, 'README.md'), '# Split the bill\n\nWritten by another program.\n')
  await tour.shown(pane.getByRole('alert'))
  await tour.shot('editor-conflict')
  await pane.getByRole('button', { name: 'Compare' }).click()
  await tour.shot('editor-compare')
  await pane.getByRole('button', { name: 'Use theirs' }).click()
  await tour.widen(-200)
}

/** Two terminals beside each other, their commands marked. */
async function terminals(tour: Tour): Promise<void> {
  const { window } = tour
  const marked = async (line: string, dots: number) => {
    await window.page.keyboard.type(line)
    await tour.key('Enter')
    await tour.shown(window.terminal.locator('.command-dot').nth(dots - 1))
    await window.page.waitForTimeout(settleMs)
  }
  await window.command('New terminal')
  await tour.shown(window.terminal.getByRole('tab'))
  await window.page.waitForTimeout(settleMs)
  await marked('git log --oneline', 1)
  await marked('ls nowhere', 2)
  await window.terminal.getByRole('button', { name: 'Split terminal' }).click()
  await tour.shown(window.terminal.getByRole('tabpanel').nth(1))
  await window.page.waitForTimeout(settleMs)
  await window.page.keyboard.type('ls')
  await tour.key('Enter')
  await tour.shot('terminals')
  await window.terminal.locator('.xterm-screen').first().click({ button: 'right' })
  await tour.shown(window.page.getByRole('menu'))
  await tour.shot('terminal-menu')
  await tour.key('Escape')
  await tour.key('Control+`')
}

/** A process that ends wakes the agent, which has something to say the first time only. */
async function automatic(tour: Tour): Promise<void> {
  const { window } = tour
  const build = (gate: string) =>
    call('shell', { command: `until [ -e ../${gate} ]; do sleep 0.1; done`, yield_time_ms: 0, on_exit: 'wake' })
  const open = (gate: string) => writeFile(join(tour.desk.lab.folder, gate), '')
  tour.script(
    { emit: [build('first'), build('second')] },
    { emit: [{ text: 'Both builds run. I am woken when one ends.' }] },
    { emit: [{ text: 'The first build is done, without a warning.' }] },
    { emit: [call('nothing_to_report', {})] },
  )
  await window.newSession()
  await window.command('Approval mode: Allow everything')
  await window.send('Build for both platforms and tell me when they are done.')
  await tour.ended('completed')
  await open('first')
  await tour.shown(window.entry('Answer: The first build'))
  await open('second')
  await tour.shown(window.entry('Started by .*: nothing to report'))
  await tour.shot('woken')
}

/** Older turns give way to a summary. */
async function compacted(tour: Tour): Promise<void> {
  const { window } = tour
  const care = 'Please consider every part of it with care. '.repeat(300)
  const says = (text: string): Step => ({ emit: [{ text }], usage: { input: 100_000, output: 20 } })
  const summary = `## Goal of the work
Shares that add up to the bill.

## Decisions and limits set by the person
- No new dependency.

## Next action
Write the test for a tip.`
  const asked = { when: { contains: 'Write a summary that will stand in its place' } }
  const answers = ['One cent is lost.', 'It goes to the first person.', 'A tip is rounded.', 'Amounts are cents.']
  tour.script(...answers.map(says), { ...asked, emit: [{ delayMs: 4_000 }, { text: summary }] })
  await window.newSession()
  for (const [at, text] of answers.entries()) {
    await window.send(`Question ${at + 1}. ${care}`)
    await tour.shown(window.entry(`Answer: ${text}`))
    await window.button('Stop').waitFor({ state: 'hidden' })
  }
  await window.message.fill('/compact the decisions')
  await tour.key('Enter')
  await tour.shown(window.button('Cancel compaction'))
  await tour.shot('compacting')
  const mark = window.entry('Context compacted')
  await tour.shown(mark)
  await mark.scrollIntoViewIfNeeded()
  await tour.shown(window.button('Jump to latest'))
  await mark.getByRole('button', { name: /Context compacted/ }).click()
  await tour.shot('compacted')
  await window.button(/^Context: /).click()
  await tour.shot('compacted-context')
  await tour.key('Escape')
}

/** A session from a file, once and once more. */
async function imported(tour: Tour): Promise<void> {
  const { window, desk } = tour
  const { stdout } = await desk.lab.lathe(['sessions', 'list', '--json'])
  const { id } = JSON.parse(stdout.split('\n')[0]!)
  const file = join(desk.lab.folder, 'session.json')
  await desk.lab.lathe(['sessions', 'export', id, '--format', 'json', '--out', file])
  for (let time = 0; time < 2; time += 1) {
    const chooser = window.page.waitForEvent('filechooser')
    await window.command('Import session')
    await (await chooser).setFiles(file)
    const preview = window.page.getByRole('alertdialog', { name: 'Import this session?' })
    await tour.shown(preview)
    if (time === 0) await tour.shot('import-preview')
    await preview.getByRole('button', { name: 'Import' }).click()
    await preview.waitFor({ state: 'hidden' })
    await tour.shown(
      time === 0 ? window.page.getByText('Imported', { exact: true }) : window.page.getByRole('alertdialog'),
    )
    await tour.shot(time === 0 ? 'imported' : 'imported-before')
  }
  await tour.key('Escape')
}

/** The host is killed in the middle of a turn. */
async function interrupted(tour: Tour): Promise<void> {
  await tour.turn('Explain rounding in the README.', {
    emit: [{ text: 'The README needs one section more. I would put it right after the example,' }, { hang: true }],
  })
  await tour.shown(tour.window.transcript.getByText('right after the example'))
  await tour.desk.killHost()
  await tour.shown(tour.window.page.getByText('Reconnecting to Lathe.'))
  await tour.shot('reconnecting')
  const address = await tour.desk.serveAgain()
  await tour.shown(tour.window.button('Try again'))
  await tour.shot('refused')
  await tour.window.page.goto(address)
  await tour.shown(tour.window.transcript.getByRole('region', { name: 'Interrupted turn' }))
  await tour.shot('recovery')
}

async function tours(browser: Browser, options: DeskOptions, scenes: Scene[]): Promise<void> {
  const context = await browser.newContext({ viewport: wide, deviceScaleFactor: 2, reducedMotion: 'reduce' })
  const desk = await Desk.open((opening) => openWeb(context, opening), options)
  try {
    await new Tour(desk).play(scenes)
  } finally {
    await desk.close().catch((error: unknown) => console.error(String(error)))
  }
}

if (await isStale()) await buildParts()
await mkdir(join(root, 'shots'), { recursive: true })
const browser = await chromium.launch({
  executablePath: await requireBrowser(),
  args: [...sandboxArguments(), '--force-device-scale-factor=2'],
})
try {
  await tours(browser, { config: '{}', folder: async () => null }, [beginnings])
  await tours(browser, { folder: project, config, env: { SHELL: '/bin/bash' }, limitMs: 10 * 60_000 }, [
    mainFlow,
    review,
    running,
    others,
    terminals,
    automatic,
    compacted,
    imported,
    narrow,
    longAnswer,
    agents,
    subagents,
    menus,
    sizes,
    paused,
    trust,
    interrupted,
  ])
} finally {
  await browser.close()
}
