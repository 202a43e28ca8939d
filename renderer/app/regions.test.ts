// @vitest-environment happy-dom
import { beforeEach, expect, test } from 'vitest'
import { focusNextRegion, focusRegion, regionOf, rememberFocus } from './regions.ts'

const now = () => regionOf(document.activeElement)

beforeEach(() => {
  document.body.innerHTML = `
    <nav data-region="sessions"><button>first</button><button data-region-focus>current</button></nav>
    <section data-region="transcript"><div tabindex="0">log</div></section>
    <section data-region="composer"><textarea></textarea></section>
    <aside data-region="inspector" tabindex="-1"></aside>`
  document.addEventListener('focusin', rememberFocus)
})

test('S-149 F6 walks list, transcript, composer, inspector, and round again; what is not there is left out', () => {
  const walked = Array.from({ length: 5 }, () => (focusNextRegion(1), now()))
  expect(walked).toEqual(['sessions', 'transcript', 'composer', 'inspector', 'sessions'])
  focusNextRegion(-1)
  expect(now()).toBe('inspector')
})

test('S-149 a region is entered at its main control, and later where it was left', () => {
  focusRegion('sessions')
  expect(document.activeElement?.textContent).toBe('current')
  document.querySelector<HTMLElement>('nav button')!.focus()
  focusRegion('composer')
  focusRegion('sessions')
  expect(document.activeElement?.textContent).toBe('first')
})

test('S-149 where the place it was left is gone, the main control takes the focus', () => {
  document.querySelector<HTMLElement>('nav button')!.focus()
  focusRegion('composer')
  document.querySelector('nav button')!.remove()
  focusRegion('sessions')
  expect(document.activeElement?.textContent).toBe('current')
  expect(focusRegion('terminal')).toBe(false)
})
