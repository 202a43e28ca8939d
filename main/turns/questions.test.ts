import { expect, test } from 'vitest'
import { defaultSettings } from '../../preload/contract/settings.ts'
import type { Command } from './inputs.ts'
import { Driver, refusedWith } from './test-driver.ts'

const question = {
  ask: 'choice' as const,
  text: 'Which?',
  choices: [{ id: '1', label: 'One' }],
  multiple: false,
  allowText: false,
}

test('T-148 an answer that does not fit leaves it open, a closed one is gone', () => {
  const driver = new Driver('all')
  driver.running()
  driver.propose('tool', 'x')
  driver.report({ type: 'asked', ticket: 'q', itemId: 'tool', question })
  const answer = (choices: string[]): Command => ({
    type: 'question.answer',
    questionId: 'q',
    choices,
    text: null,
    secret: null,
    declined: false,
  })
  expect(refusedWith(() => driver.command(answer(['9'])))).toBe('question.invalid')
  expect(driver.state.view.questions.depth).toBe(1)
  driver.command(answer(['1']))
  expect(driver.effects.find((effect) => effect.do === 'release')).toMatchObject({
    answer: { answer: { choices: ['One'] } },
  })
  expect(refusedWith(() => driver.command(answer(['1'])))).toBe('question.gone')
})

test('T-149 a count that ran out as it began anew closes nothing; the new one does', () => {
  const driver = new Driver('all', { ...defaultSettings, 'questions.timeoutSeconds': 120 })
  driver.running()
  driver.propose('tool', 'x')
  driver.report({ type: 'asked', ticket: 'q', itemId: 'tool', question })
  const expiry = () => driver.effects.filter((effect) => effect.do === 'expire')
  expect(expiry()).toEqual([{ do: 'expire', questionId: 'q', ms: 120_000 }])
  driver.passes(119_000)
  driver.command({ type: 'question.touched', questionId: 'q' })
  expect(expiry()).toEqual([{ do: 'expire', questionId: 'q', ms: 120_000 }])
  driver.passes(1_000)
  driver.command({ type: 'question.expired', questionId: 'q' })
  expect(driver.state.view.questions.depth).toBe(1)
  driver.passes(119_000)
  driver.command({ type: 'question.expired', questionId: 'q' })
  expect(driver.state.view.questions.depth).toBe(0)
  expect(driver.effects.find((effect) => effect.do === 'release')).toMatchObject({ answer: { noAnswer: 'expired' } })
})

test('T-151 TA-26 a secret answer is in no event', () => {
  const driver = new Driver('all')
  driver.running()
  driver.propose('tool', 'x')
  driver.report({
    type: 'asked',
    ticket: 'q',
    itemId: 'tool',
    question: { ...question, ask: 'secret', choices: [], allowText: true },
  })
  driver.command({
    type: 'question.answer',
    questionId: 'q',
    choices: [],
    text: null,
    secret: 's3cr3t-42',
    declined: false,
  })
  expect(JSON.stringify(driver.journal)).not.toContain('s3cr3t-42')
  expect(driver.item('q')).toMatchObject({ state: 'answered', answer: 'answered (hidden)' })
})
