// @vitest-environment happy-dom
import { cleanup, fireEvent, render } from '@testing-library/react'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { openFile, openLink } from '../state/window-store.ts'
import { TooltipProvider } from '../ui/tooltip.tsx'
import { Markdown, MarkdownWorkspace } from './markdown.tsx'

vi.mock(import('../state/window-store.ts'), async (original) => ({
  ...(await original()),
  openFile: vi.fn<typeof openFile>(),
  openLink: vi.fn<typeof openLink>(async () => {}),
}))
vi.mock(import('./highlighter.ts'), async (original) => ({ ...(await original()), highlight: async () => null }))

beforeAll(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }))
})
afterEach(cleanup)

function show(text: string, live = false) {
  const ui = (source: string, going: boolean) => (
    <TooltipProvider>
      <MarkdownWorkspace value="/work">
        <Markdown text={source} live={going} />
      </MarkdownWorkspace>
    </TooltipProvider>
  )
  const shown = render(ui(text, live))
  return { ...shown, grow: (more: string) => shown.rerender(ui(more, live)) }
}

test('Z-190 raw HTML is text: no element, no attribute of it comes through', () => {
  const { container } = show(
    '<img src=x onerror="alert(1)"> <script>alert(1)</script> **bold** <b style="color:red" id="a">b</b>\n\n<div onclick="x()">block</div>\n\n<iframe src="https://evil.test"></iframe>',
  )
  expect(container.querySelector('script, img, iframe, b, [style], [id], [onclick]')).toBeNull()
  expect(container.textContent).toContain('<script>alert(1)</script>')
  expect(container.querySelector('strong')?.textContent).toBe('bold')
})

test('Z-191 links of other schemes are text, web links open through the window and show their host', () => {
  const { container, getByText } = show(
    '[a](javascript:alert(1)) [b](data:text/html,x) [c](https://example.com/x) [example.com](https://evil.test)',
  )
  expect([...container.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual([
    'https://example.com/x',
    'https://evil.test/',
  ])
  fireEvent.click(getByText('c'))
  expect(openLink).toHaveBeenCalledWith('https://example.com/x')
  expect(container.textContent).toContain('(goes to evil.test)')
})

test('S-66 a workspace path opens at its line', () => {
  const { getByText } = show('See [it](src/a.ts#L7) and `src/b.ts:42`.')
  fireEvent.click(getByText('it'))
  fireEvent.click(getByText('src/b.ts:42'))
  expect(vi.mocked(openFile).mock.calls).toEqual([
    ['/work', 'src/a.ts', { line: 7 }],
    ['/work', 'src/b.ts', { line: 42 }],
  ])
})

test('Z-193 an image from elsewhere is not loaded, one inside the text is, a vector one is not', () => {
  const { container, getByRole } = show(
    '![far](https://img.test/a.png) ![dot](data:image/png;base64,iVBORw0KGgo=) ![svg](data:image/svg+xml;base64,PHN2Zz4=)',
  )
  expect([...container.querySelectorAll('img')].map((image) => image.alt)).toEqual(['dot'])
  expect(getByRole('button', { name: 'far: open image from img.test' })).toBeTruthy()
})

test('Z-190 nothing of a model can carry a role or a class of the window', () => {
  const { container } = show('<div role="group" aria-label="Approval" class="prose"><button>Allow once</button></div>')
  expect(container.querySelector('[role=group], button')).toBeNull()
})

test('K-03 text that grows keeps the blocks before it: they are the same elements', () => {
  const { container, grow } = show('# one\n\ntwo\n\nthree\n\nfour\n\nfi', true)
  const heading = container.querySelector('h1')
  grow('# one\n\ntwo\n\nthree\n\nfour\n\nfive **bo')
  expect(container.querySelector('h1')).toBe(heading)
  expect(container.querySelector('strong')?.textContent).toBe('bo')
})

test('K-17 a row of 10,000 columns makes no table', () => {
  const { container } = show(`|${' a |'.repeat(10_000)}\n|${'---|'.repeat(10_000)}\n`)
  expect(container.querySelector('table')).toBeNull()
  expect(container.querySelectorAll('*').length).toBeLessThan(100)
})

test('the columns of a table stand as the text aligns them', () => {
  const { container } = show('| a | b | c |\n| ---: | :-: | --- |\n| 1 | 2 | 3 |')
  const alignments = (cells: string) => [...container.querySelectorAll(cells)].map((cell) => cell.getAttribute('align'))
  expect(alignments('th')).toEqual(['right', 'center', null])
  expect(alignments('td')).toEqual(['right', 'center', null])
})
