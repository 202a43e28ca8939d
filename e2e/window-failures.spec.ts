/** What fails is said where it happened, with what can be done about it as buttons. */
import { rename } from 'node:fs/promises'
import { expect, test } from './window.ts'

test('T-155 a refused key is an error entry with actions, and Retry works once it is mended', async ({ open }) => {
  const refused = { error: { status: 401, code: 'invalid_api_key', message: 'Incorrect API key provided.' } }
  const { lab, window } = await open({
    script: [{ ...refused, repeat: 'always' }],
    config: ({ baseUrl }) => ({
      providers: { lab: { kind: 'openai-compatible', baseUrl, models: ['scripted'], apiKeyEnv: 'LAB_KEY' } },
    }),
    env: { LAB_KEY: 'a-key-of-yesterday' },
  })
  await window.newSession()
  await window.send('Say hello')
  await window.settled('failed')
  const error = window.entry('Error:')
  await expect(error).toContainText('provider.auth_invalid')
  await expect(error.getByRole('button', { name: 'Choose model' })).toBeVisible()
  await error.getByRole('button', { name: 'Settings' }).click()
  const settings = window.dialog('Settings')
  await expect(settings.getByRole('tab', { name: 'Models' })).toHaveAttribute('aria-selected', 'true')
  await window.page.keyboard.press('Escape')
  await expect(settings).toBeHidden()

  lab.script([{ emit: [{ text: 'Hello.' }] }])
  await error.getByRole('button', { name: 'Retry' }).or(window.button('Try this turn again')).first().click()
  await expect(window.entry('Answer: Hello.')).toBeVisible()
  await window.settled('completed')
  await expect(window.entry('Earlier attempt, failed')).toBeVisible()
  await expect(window.entry('You: Say hello')).toHaveCount(1)
})

test('T-156 an answer cut twice keeps what came, says so, and goes on', async ({ open }) => {
  const { lab, window } = await open({
    script: [
      { emit: [{ text: 'The first half' }, { cut: true }] },
      { emit: [{ text: 'The first half, again' }, { cut: true }] },
    ],
  })
  await window.newSession()
  await window.send('Say it all')
  await expect(window.entry('Error:')).toContainText('provider.response_interrupted', { timeout: 20_000 })
  await window.settled('failed')
  await expect(window.entry('Answer:').last()).toContainText('The first half, again')

  lab.script([{ emit: [{ text: 'All of it.' }] }])
  await window.entry('Error:').getByRole('button', { name: 'Continue' }).or(window.button('Continue')).first().click()
  await expect(window.entry('Answer: All of it.')).toBeVisible()
  await window.settled('completed')
})

test('T-159 a rate limit is counted down in the status, and Stop ends the wait', async ({ open }) => {
  const { lab, window } = await open({
    script: [{ error: { status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after': '40' } } }],
  })
  await window.newSession()
  await window.send('Say hello')
  await expect(window.status).toContainText(/limiting requests, (resets|retrying) in \d+s/)
  await window.button('Stop').click()
  await window.settled('stopped')
  expect(lab.asked()).toHaveLength(1)
})

test('S-30 a message that the host refuses stays, says why, and can be sent again', async ({ open }) => {
  const { lab, window } = await open({ script: [{ emit: [{ text: 'Hello.' }] }] })
  await window.newSession()
  await rename(lab.workspace, `${lab.workspace}-away`)
  await window.send('Say hello')
  const unsent = window.entry('Not sent')
  await expect(unsent).toContainText('Say hello')
  await rename(`${lab.workspace}-away`, lab.workspace)
  await unsent.getByRole('button', { name: 'Try again' }).click()
  await expect(window.entry('Answer: Hello.')).toBeVisible()
  await expect(unsent).toBeHidden()
})
