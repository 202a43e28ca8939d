// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/react'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { setLink } from '../state/link.ts'
import { closeSessions } from '../state/session-store.ts'
import { TooltipProvider } from '../ui/tooltip.tsx'
import { recoveryView, runningView, settledView, textItem } from './fixtures.ts'
import { definitionOf, rowRegistry } from './row-registry.tsx'
import { buildRows, type Row } from './rows.ts'
import { SessionIdProvider } from './transcript-context.ts'

vi.mock(import('./highlighter.ts'), async (original) => ({ ...(await original()), highlight: async () => null }))

beforeAll(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }))
})
beforeEach(() => {
  const never = () => new Promise(() => {})
  const client = new Proxy({}, { get: () => new Proxy({}, { get: () => never }) })
  setLink({ client, state: () => 'connected', onState: () => () => {}, read: () => {} } as unknown as Parameters<
    typeof setLink
  >[0])
})
afterEach(() => {
  cleanup()
  closeSessions()
})

const unsent = { requestId: 'r', text: 'hello', attachments: [], as: 'turn' as const, at: 0, refusal: null }
const attempts = () => {
  const { turns, ...view } = settledView()
  return { ...view, turns: turns.map((turn) => (turn.id === 'turn-3' ? { ...turn, retryOf: 'turn-2' } : turn)) }
}
const all: Row[] = [
  ...buildRows(
    settledView(),
    [unsent, { ...unsent, requestId: 's', refusal: { code: 'workspace.busy', message: 'Busy.' } }],
    new Map(),
    5,
  ),
  ...buildRows(runningView(), [], new Map(), 5),
  ...buildRows(recoveryView(), [], new Map(), 5),
  ...buildRows(attempts(), [], new Map(), 5),
  ...buildRows({ ...settledView(), items: [{ ...textItem('x'), kind: 'hologram' } as never] }, [], new Map(), 5),
]

describe.each(Object.keys(rowRegistry))('a row of kind %s', (kind) => {
  const rows = all.filter((row) => row.kind === kind)

  test('is in the fixtures, draws, has a name, a height and a text (S-147)', () => {
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) {
      const { View, label, estimate, toText } = definitionOf(row)
      for (const open of [false, true]) {
        const { container, unmount } = render(
          <TooltipProvider>
            <SessionIdProvider value="session-1">
              <View row={row as never} open={open} onToggle={() => {}} />
            </SessionIdProvider>
          </TooltipProvider>,
        )
        expect(container.textContent).not.toBe('')
        unmount()
      }
      expect(label(row as never)).toMatch(/\S/)
      expect(estimate(row as never, 736)).toBeGreaterThanOrEqual(24)
      expect(toText(row as never)).toMatch(/\S/)
    }
  })
})
