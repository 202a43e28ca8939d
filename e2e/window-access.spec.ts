/** The window is usable by everybody: axe looks at each main state, in light and in dark. */
import { AxeBuilder } from '@axe-core/playwright'
import { mending, task } from './mending.ts'
import { expect, type LatheWindow, test } from './window.ts'

type Look = 'light' | 'dark'

/** What another look can change. */
const rulesOfColour = ['color-contrast', 'link-in-text-block']

/** Collects what axe finds, by state, as lines that name the rule and the element. */
function axe({ page }: LatheWindow, colorScheme: Look) {
  const found: Record<string, string[]> = {}
  return {
    found,
    async look(state: string): Promise<void> {
      // Dividers stand between the landmarks, and belong to none.
      const builder = new AxeBuilder({ page }).exclude('[role="separator"]')
      if (colorScheme === 'dark') builder.withRules(rulesOfColour)
      const faults = (await builder.analyze()).violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary ?? ''}`),
      )
      if (faults.length > 0) found[state] = faults
    },
  }
}

// Each look at a state takes axe about a second, and several on a busy machine.
test.describe.configure({ timeout: 120_000 })

for (const colorScheme of ['light', 'dark'] satisfies Look[]) {
  test(`S-150 axe finds nothing in a session and its inspector, ${colorScheme}`, async ({ open }) => {
    const { window } = await open({ script: mending('ms') })
    const { found, look } = axe(window, colorScheme)
    await window.page.emulateMedia({ colorScheme })
    await expect(window.page.getByRole('main', { name: 'Welcome' })).toBeVisible()
    await look('welcome')
    await window.newSession()
    await window.send(task)
    const allow = window.approval.getByRole('button', { name: 'Allow once' })
    for (const asks of ['Make this change?', 'Run this command?']) {
      await expect(window.approval).toContainText(asks)
      await expect(allow).toBeEnabled()
      await look(asks)
      await allow.click()
    }
    await window.settled('completed')
    await window.entry('Tool call, edit file').getByRole('button').first().click()
    await expect(window.entry('Tool call, edit file')).toContainText('return n * h;')
    for (const name of ['Changes', 'Plan', 'Files', 'Context'] as const) {
      await expect(await window.tab(name)).toBeVisible()
      await look(name)
    }
    expect(found).toEqual({})
  })

  test(`S-150 axe finds nothing in dialogs, failures and terminals, ${colorScheme}`, async ({ open }) => {
    const ask = { question: 'Which licence?', choices: ['MIT', 'Apache-2.0'] }
    const { window } = await open({
      script: [
        { emit: [{ call: { name: 'ask_person', args: ask } }] },
        { error: { status: 404, code: 'model_not_found', message: 'No such model.' } },
      ],
    })
    const { found, look } = axe(window, colorScheme)
    const { keyboard } = window.page
    await window.page.emulateMedia({ colorScheme })
    await window.newSession()
    await window.send('Add a licence')
    await expect(window.question.getByRole('button', { name: 'Decline' })).toBeEnabled()
    await look('question')
    await window.question.getByRole('button', { name: 'Decline' }).click()
    await window.settled('failed')
    await keyboard.press('Control+`')
    await expect(window.terminal.getByRole('tab')).toHaveCount(1)
    await look('failure and terminal')
    await window.message.focus()
    for (const [keys, name] of [
      ['ControlOrMeta+Shift+P', 'Command palette'],
      ['ControlOrMeta+Shift+M', 'Choose a model'],
      ['ControlOrMeta+/', 'Keyboard shortcuts'],
    ] as const) {
      await keyboard.press(keys)
      await expect(window.page.getByRole('dialog')).toBeVisible()
      await look(name)
      await keyboard.press('Escape')
      await expect(window.page.getByRole('dialog')).toBeHidden()
    }
    await keyboard.press('ControlOrMeta+,')
    const settings = window.dialog('Settings')
    await expect(settings.getByRole('tab', { selected: true })).toBeVisible()
    for (const name of await settings.getByRole('tab').allInnerTexts()) {
      await settings.getByRole('tab', { name }).click()
      await expect(settings.getByRole('heading', { name, level: 2 }).last()).toBeVisible()
      await look(`settings, ${name}`)
    }
    expect(found).toEqual({})
  })
}
