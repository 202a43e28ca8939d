/**
 * `npm run shots`: pictures of every main state of the window, in light and in dark, into shots/; those whose names begin
 * with one of the words given to it, or all. A scripted model plays a small project's mending, so that nothing of the
 * person's own is seen and each run draws the same. The README's picture is `overview-light`.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium, type Browser, type Locator } from 'playwright'
import { openWeb } from '../e2e/host-under-test.ts'
import type { Lab } from '../e2e/lab.ts'
import type { Action, Step } from '../e2e/model-server/script.ts'
import { Desk, type DeskOptions, type LatheWindow } from '../e2e/window.ts'
import { requireBrowser, sandboxArguments } from './browser.ts'
import { buildParts, isStale } from './build.ts'
import { root } from './steps.ts'

const run = promisify(execFile)
const looks = ['light', 'dark'] as const
const wide = { width: 1440, height: 900 }
/** Colours fade, code is coloured anew by a worker. */
const settleMs = 400

const call = (name: string, args: Record<string, unknown>): Action => ({ call: { name, args } })
const planned = ['Run the tests and read what fails', 'Give the odd cents away', 'Prove it with the tests']
const plan = (done: number) =>
  call('update_plan', {
    entries: planned.map((text, at) => ({ text, state: at < done ? 'done' : at === done ? 'active' : 'pending' })),
  })
const titles: [string, string][] = [
  ['shares of a bill', 'Shares do not add up to the bill'],
  ['README', 'Explain rounding in the README'],
  ['licence', 'Choose a licence'],
  ['currency', 'Format amounts in a currency'],
  ['release', 'Prepare the 1.1 release'],
]
const named = titles.map(([contains, text]): Step => ({
  repeat: 'always',
  when: { contains: 'Write a title', lastUserContains: contains },
  emit: [{ text }],
}))

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
  return folder
}

const wanted = process.argv.slice(2)

class Tour {
  readonly desk: Desk
  readonly window: LatheWindow

  constructor(desk: Desk) {
    this.desk = desk
    this.window = desk.window
  }

  script(...steps: Step[]): void {
    this.desk.lab.server.script([...named, ...steps])
  }

  async shot(name: string): Promise<void> {
    if (wanted.length > 0 && !wanted.some((word) => name.startsWith(word))) return
    const { page } = this.window
    for (const colorScheme of looks) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.mouse.move(720, 2)
      await page.waitForTimeout(settleMs)
      await page.screenshot({ path: join(root, 'shots', `${name}-${colorScheme}.png`), caret: 'initial' })
    }
    console.log(`shots/${name}-{${looks.join(',')}}.png`)
  }

  async shown(locator: Locator): Promise<void> {
    await locator.first().waitFor({ state: 'visible', timeout: 30_000 })
  }

  /** A turn in a session of its own. */
  async turn(text: string, ...steps: Step[]): Promise<void> {
    this.script(...steps)
    await this.window.newSession()
    await this.window.send(text)
  }

  async allow(): Promise<void> {
    await this.window.approval.getByRole('button', { name: 'Allow once' }).click({ timeout: 15_000 })
  }

  async ended(outcome: string): Promise<void> {
    await this.shown(this.window.entry(`Turn ${outcome}`).last())
  }

  async key(keys: string): Promise<void> {
    await this.window.page.keyboard.press(keys)
  }

  /** Moves the inspector's edge. */
  async widen(px: number): Promise<void> {
    const { page } = this.window
    const { x, y } = (await page.getByRole('separator', { name: 'Resize the inspector' }).boundingBox())!
    await page.mouse.move(x, y + 300)
    await page.mouse.down()
    await page.mouse.move(x - px, y + 300, { steps: 8 })
    await page.mouse.up()
  }

  async dialog(keys: string, name: string): Promise<void> {
    await this.key(keys)
    await this.shown(this.window.page.getByRole('dialog'))
    await this.shot(name)
  }
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
  await tour.shown(files.getByText('withTip'))
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

async function narrow(tour: Tour): Promise<void> {
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

async function tours(browser: Browser, options: DeskOptions, steps: ((tour: Tour) => Promise<void>)[]): Promise<void> {
  const context = await browser.newContext({ viewport: wide, deviceScaleFactor: 2, reducedMotion: 'reduce' })
  const desk = await Desk.open((opening) => openWeb(context, opening), options)
  try {
    const tour = new Tour(desk)
    for (const step of steps) await step(tour)
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
  await tours(browser, { folder: project, limitMs: 10 * 60_000 }, [mainFlow, running, others, narrow, interrupted])
} finally {
  await browser.close()
}
