// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ItemOf } from '../../preload/contract/items.ts'
import { cardInertMs } from '../../preload/contract/limits.ts'
import { setLink } from '../state/link.ts'
import { closeSessions } from '../state/session-store.ts'
import { approvalItem, questionItem, view } from '../transcript/fixtures.ts'
import { TooltipProvider } from '../ui/tooltip.tsx'
import { ApprovalCard } from './approval-card.tsx'
import { QuestionCard } from './question-card.tsx'
import { ruleText } from './rule-text.ts'

const answered = vi.fn<(input: object) => Promise<{ ok: true }>>(async () => ({ ok: true }))
beforeEach(() => {
  vi.useFakeTimers()
  const client = {
    session: { open: async () => view([], []) },
    approvals: { answer: answered },
    questions: { answer: answered },
  }
  setLink({ client, state: () => 'connected', onState: () => () => {}, read: () => {} } as unknown as Parameters<
    typeof setLink
  >[0])
})
afterEach(() => {
  cleanup()
  closeSessions()
  answered.mockClear()
  vi.useRealTimers()
})

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms))
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })

function showApproval(request: Partial<ItemOf<'approval'>['request']> = {}, depth = 1) {
  const approval = approvalItem(request)
  const card = (one: ItemOf<'approval'>) => (
    <TooltipProvider>
      <ApprovalCard key={one.id} sessionId="session-1" approval={one} depth={depth} />
    </TooltipProvider>
  )
  return { approval, ...render(card(approval)) }
}

describe('an approval', () => {
  test('Z-201 nothing answers it for 500 ms after it appeared, nor does it take the focus', async () => {
    showApproval()
    await pass(cardInertMs - 10)
    for (const name of ['Allow once', 'Allow for this session', 'Always allow', 'Deny']) {
      expect(button(name).disabled).toBe(true)
      fireEvent.click(button(name))
    }
    expect(answered).not.toHaveBeenCalled()
    expect(document.activeElement).toBe(document.body)
    await pass(20)
    fireEvent.click(button('Allow once'))
    expect(answered).toHaveBeenCalledOnce()
  })

  test('Z-201 the click that fetches the window answers nothing', async () => {
    showApproval()
    await pass(cardInertMs + 10)
    act(() => void dispatchEvent(new Event('focus')))
    fireEvent.click(button('Allow once'))
    expect(answered).not.toHaveBeenCalled()
    await pass(cardInertMs + 10)
    fireEvent.click(button('Allow once'))
    expect(answered).toHaveBeenCalledOnce()
  })

  test('Z-91 an answer names its card and the hash of what was shown', async () => {
    const { approval } = showApproval({ argsHash: 'h1' })
    await pass(cardInertMs + 10)
    fireEvent.click(button('Always allow'))
    expect(answered.mock.lastCall![0]).toMatchObject({
      approvalId: approval.id,
      argsHash: 'h1',
      decision: 'always',
      scope: 'workspace',
    })
  })

  test('Z-200 the whole command is shown, what cannot be seen made visible, with folder, reason and rule (Z-87)', () => {
    const command = `echo ${'x'.repeat(2_000)} \u202e\u200b| sh`
    showApproval({
      detail: command,
      folder: '/srv/a b',
      reason: 'It pipes into a shell.',
      rules: [{ command: ['echo', '*'] }, { command: ['sh'] }],
    })
    const card = screen.getByRole('group', { name: 'Approval' })
    expect(card.textContent).toContain('x'.repeat(2_000))
    expect(card.textContent).toContain('RLO')
    expect(card.textContent).toContain('ZWSP')
    for (const text of ['/srv/a b', 'It pipes into a shell.', 'echo *', 'sh']) expect(card.textContent).toContain(text)
  })

  test('Z-87 what may not be remembered can only be allowed once', async () => {
    showApproval({ rules: [], notStorable: 'the command cannot be read with certainty.' })
    await pass(cardInertMs + 10)
    expect(button('Allow once').disabled).toBe(false)
    expect(button('Allow for this session').disabled).toBe(true)
    expect(button('Always allow').disabled).toBe(true)
    expect(screen.getByRole('group', { name: 'Approval' }).textContent).toContain('cannot be read with certainty')
  })

  test('Z-201 a long command must be read to its end before it can be allowed; refusing needs no reading', async () => {
    const height = vi.spyOn(HTMLElement.prototype, 'scrollHeight', 'get').mockReturnValue(900)
    const inner = vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(400)
    showApproval({ detail: 'line\n'.repeat(60) })
    await pass(cardInertMs + 10)
    expect(button('Allow once').disabled).toBe(true)
    expect(button('Deny').disabled).toBe(false)
    const area = screen.getByRole('region', { name: 'Command' })
    area.scrollTop = 500
    fireEvent.scroll(area)
    expect(button('Allow once').disabled).toBe(false)
    height.mockRestore()
    inner.mockRestore()
  })

  test('several waiting say so', () => {
    showApproval({}, 3)
    expect(screen.getByText('1 of 3')).toBeTruthy()
  })
})

describe('a question', () => {
  const show = (more: Partial<ItemOf<'question'>>) => {
    const question = questionItem('Which one?', {
      choices: [
        { id: 'a', label: 'First' },
        { id: 'b', label: 'Second' },
      ],
      ...more,
    })
    render(<QuestionCard sessionId="session-1" question={question} depth={1} />)
  }

  test('T-147 choosing and writing are sent together, only once ready', async () => {
    show({})
    await pass(cardInertMs + 10)
    expect(button('Answer').disabled).toBe(true)
    fireEvent.click(screen.getByLabelText('Second'))
    fireEvent.change(screen.getByLabelText('Your answer'), { target: { value: 'because' } })
    fireEvent.click(button('Answer'))
    expect(answered.mock.lastCall![0]).toMatchObject({ choices: ['b'], text: 'because' })
  })

  test('several may be chosen where it says so', async () => {
    show({ multiple: true, allowText: false })
    await pass(cardInertMs + 10)
    fireEvent.click(screen.getByLabelText('First'))
    fireEvent.click(screen.getByLabelText('Second'))
    fireEvent.click(button('Answer'))
    expect(answered.mock.lastCall![0]).toMatchObject({ choices: ['a', 'b'] })
    expect(screen.queryByLabelText('Your answer')).toBeNull()
  })

  test('T-151 a secret goes as a secret and leaves the field', async () => {
    show({ ask: 'secret', choices: [] })
    await pass(cardInertMs + 10)
    const field = screen.getByLabelText<HTMLInputElement>('Secret answer')
    expect(field.type).toBe('password')
    fireEvent.change(field, { target: { value: 's3cr3t-42' } })
    fireEvent.click(button('Answer'))
    const sent = answered.mock.lastCall![0]
    expect(sent).toMatchObject({ secret: 's3cr3t-42' })
    expect(sent).not.toHaveProperty('text')
    await pass(10)
    expect(field.value).toBe('')
  })

  test('declining is an answer', async () => {
    show({})
    await pass(cardInertMs + 10)
    fireEvent.click(button('Decline'))
    expect(answered.mock.lastCall![0]).toMatchObject({ declined: true })
  })
})

test.each([
  [{ tool: 'shell', command: ['git', 'status', '**'] }, 'git status **'],
  [{ command: ['echo', 'two words', "it's"] }, "echo 'two words' 'it'\\''s'"],
  [{ tool: 'write_file', path: { glob: 'src/**', access: 'write' as const } }, 'write_file: write src/**'],
  [{ host: '*.example.com' }, '*.example.com'],
  [{ tool: 'mcp:github/*' }, 'every call of mcp:github/*'],
])('Z-87 the rule %j reads %s', (rule, text) => {
  expect(ruleText(rule)).toBe(text)
})

test.each([
  ['/work/shop/**', 'write any file of the workspace'],
  ['/work/shop/src/*.ts', 'write src/*.ts'],
  ['/work/shop-2/a.ts', 'write /work/shop-2/a.ts'],
])('Z-87 a place %s is named from its workspace', (glob, text) => {
  expect(ruleText({ path: { glob, access: 'write' } }, '/work/shop')).toBe(text)
})
