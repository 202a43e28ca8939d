// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Duration } from './duration.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { IconButton } from './icon-button.tsx'
import { Delayed, Skeleton } from './skeleton.tsx'
import { statuses, StatusDot } from './status-dot.tsx'
import { TextField } from './text-field.tsx'
import { TooltipProvider } from './tooltip.tsx'
import { Square } from 'lucide-react'

afterEach(cleanup)

describe('a pane that throws', () => {
  // React reports what a boundary caught to the console as well.
  beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))
  afterEach(() => void vi.restoreAllMocks())

  let broken = true
  function Changes() {
    if (broken) throw new Error('no such change')
    return <p>three changes</p>
  }

  test('S-175 leaves the others working, says what and its code, and comes back by "Try again"', () => {
    broken = true
    const onError = vi.fn<(error: unknown, componentStack: string) => void>()
    render(
      <>
        <ErrorBoundary pane="Transcript">a reply</ErrorBoundary>
        <ErrorBoundary pane="Changes" onError={onError}>
          <Changes />
        </ErrorBoundary>
      </>,
    )
    expect(screen.getByText('a reply')).toBeTruthy()
    const alert = screen.getByRole('alert').textContent
    expect(alert).toContain('Changes stopped working')
    expect(alert).toContain('no such change')
    expect(alert).toContain('app.internal')
    expect(alert).not.toContain('panes.test.tsx')
    expect(onError.mock.calls[0]?.[0]).toEqual(new Error('no such change'))
    broken = false
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }))
    expect(screen.getByText('three changes')).toBeTruthy()
  })

  test('S-175 "Copy details" copies what is shown and the stack that is not', async () => {
    broken = true
    const writeText = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue()
    render(
      <ErrorBoundary pane="Changes">
        <Changes />
      </ErrorBoundary>,
    )
    fireEvent.click(screen.getByRole('button', { name: 'Copy details' }))
    expect(await screen.findByRole('button', { name: 'Copied' })).toBeTruthy()
    expect(writeText.mock.calls[0]?.[0]).toMatch(
      /^Changes stopped working\ncode: app\.internal\nno such change\nError:/,
    )
  })

  test('S-175 a pane given something else to show starts afresh', () => {
    broken = true
    const pane = (session: string) => (
      <ErrorBoundary pane="Changes" resetKey={session}>
        <Changes />
      </ErrorBoundary>
    )
    const { rerender } = render(pane('first'))
    broken = false
    rerender(pane('first'))
    expect(screen.queryByText('three changes')).toBeNull()
    rerender(pane('second'))
    expect(screen.getByText('three changes')).toBeTruthy()
  })
})

describe('as time passes', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('S-175 what loads within 150 ms shows no skeleton, what takes longer does', () => {
    render(<Skeleton label="Loading sessions" />)
    act(() => void vi.advanceTimersByTime(149))
    expect(screen.queryByRole('status')).toBeNull()
    act(() => void vi.advanceTimersByTime(1))
    expect(screen.getByRole('status', { name: 'Loading sessions' })).toBeTruthy()
    expect(render(<Delayed after={0}>now</Delayed>).container.textContent).toBe('now')
  })

  test('a running clock draws itself again and not what it stands in', () => {
    let drawn = 0
    const from = Date.now()
    function Card() {
      drawn += 1
      return <Duration from={from} />
    }
    render(<Card />)
    act(() => void vi.advanceTimersByTime(65_000))
    expect(screen.getByRole('timer').textContent).toBe('1m 05s')
    expect(drawn).toBe(1)
    cleanup()
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('S-150 every state has a word and a shape of its own', () => {
  const marks = statuses.map((status) => {
    const { container, unmount } = render(<StatusDot status={status} />)
    const mark = container.querySelector('svg')
    const seen = { name: mark?.getAttribute('aria-label'), shape: mark?.innerHTML }
    unmount()
    return seen
  })
  expect(new Set(marks.map(({ name }) => name)).size).toBe(statuses.length)
  expect(new Set(marks.map(({ shape }) => shape)).size).toBe(statuses.length)
})

test('an icon button is named by its label, and a field by its label and error', () => {
  render(
    <TooltipProvider>
      <IconButton icon={Square} label="Stop" />
      <TextField label="Base URL" value="" onChange={() => {}} error="Not a web address." />
    </TooltipProvider>,
  )
  expect(screen.getByRole('button', { name: 'Stop' })).toBeTruthy()
  const field = screen.getByRole('textbox', { name: 'Base URL' })
  const error = document.getElementById(field.getAttribute('aria-describedby') ?? '')
  expect(error?.textContent).toBe('Not a web address.')
  expect(field.getAttribute('aria-invalid')).toBe('true')
})
