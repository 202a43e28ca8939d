/**
 * Keys: how a binding is written, shown, recorded and matched (S-177). A binding is a sequence of presses, each
 * `Modifier+…+Key`, e.g. `Mod+Shift+P` or `Mod+K Mod+S`. `Mod` is Command on a Mac and Control elsewhere; letters match
 * the logical character, and the physical key where Alt would turn it into another one.
 */
import { createKeybindingsHandler } from 'tinykeys'

export const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

const modifiers = ['Mod', 'Ctrl', 'Meta', 'Alt', 'Shift'] as const
type Modifier = (typeof modifiers)[number]

interface Press {
  modifiers: Set<Modifier>
  key: string
}

function parsePress(text: string): Press {
  // The key itself may be a plus sign: `Mod++`.
  const parts = text.endsWith('++') ? [...text.slice(0, -2).split('+'), '+'] : text.split('+')
  const key = parts.pop() ?? ''
  return { modifiers: new Set(parts as Modifier[]), key }
}

function writePress({ modifiers: held, key }: Press): string {
  return [...modifiers.filter((modifier) => held.has(modifier)), key].join('+')
}

/** The one way to write a binding, so that equal bindings are equal strings; null where it is none. */
export function canonicalKeys(text: string, mac: boolean = isMac): string | null {
  const presses = text.trim().split(/\s+/)
  if (presses.length === 0 || presses.length > 2) return null
  const written: string[] = []
  for (const one of presses) {
    const press = parsePress(one)
    if (press.key === '' || [...press.modifiers].some((modifier) => !modifiers.includes(modifier))) return null
    if (press.key.length === 1) press.key = press.key.toUpperCase()
    // Elsewhere than on a Mac, Control is what `Mod` stands for.
    if (!mac && press.modifiers.delete('Ctrl')) press.modifiers.add('Mod')
    written.push(writePress(press))
  }
  return written.join(' ')
}

const shiftedSymbol = /^[^A-Za-z0-9\s]$/

/** A binding in the words of tinykeys. */
function tinykeysBinding(binding: string): string {
  return binding
    .split(' ')
    .map((one) => {
      const { modifiers: held, key } = parsePress(one)
      const alt = held.has('Alt')
      const name =
        alt && /^[A-Z]$/.test(key)
          ? `Key${key}`
          : alt && /^[0-9]$/.test(key)
            ? `Digit${key}`
            : key === '`'
              ? 'Backquote'
              : key
      const before: string[] = modifiers
        .filter((modifier) => held.has(modifier))
        .map((modifier) => (modifier === 'Mod' ? '$mod' : modifier === 'Ctrl' ? 'Control' : modifier))
      // On many layouts a symbol needs Shift: whether it is held says nothing about what was meant.
      if (shiftedSymbol.test(key) && key !== '`' && !held.has('Shift')) before.push('[Shift]')
      return [...before, name].join('+')
    })
    .join(' ')
}

const shownNames: Record<string, string> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
  ' ': 'Space',
  Backspace: '⌫',
  Delete: 'Del',
}
const macModifiers: Record<Modifier, string> = { Mod: '⌘', Ctrl: '⌃', Meta: '⌘', Alt: '⌥', Shift: '⇧' }
const otherModifiers: Record<Modifier, string> = { Mod: 'Ctrl', Ctrl: 'Ctrl', Meta: 'Meta', Alt: 'Alt', Shift: 'Shift' }

/** The caps to show for a binding, press by press: `[['Ctrl', 'Shift', 'P']]`. */
export function keyCaps(binding: string, mac: boolean = isMac): string[][] {
  return binding.split(' ').map((one) => {
    const { modifiers: held, key } = parsePress(one)
    const names = mac ? macModifiers : otherModifiers
    return [
      ...modifiers.filter((modifier) => held.has(modifier)).map((modifier) => names[modifier]),
      shownNames[key] ?? key,
    ]
  })
}

/** A binding as one string for tooltips and menus. */
export function shownKeys(binding: string, mac: boolean = isMac): string {
  return keyCaps(binding, mac)
    .map((caps) => caps.join(mac ? '' : '+'))
    .join(' ')
}

/** What a key press is as a binding, for recording one; null while only modifiers are down or text is composed. */
export function pressedKeys(event: KeyboardEvent, mac: boolean = isMac): string | null {
  if (event.isComposing || event.keyCode === 229) return null
  if (['Control', 'Shift', 'Alt', 'Meta', 'AltGraph', 'CapsLock', 'Dead'].includes(event.key)) return null
  const held = new Set<Modifier>()
  if (mac ? event.metaKey : event.ctrlKey) held.add('Mod')
  if (mac && event.ctrlKey) held.add('Ctrl')
  if (!mac && event.metaKey) held.add('Meta')
  if (event.altKey) held.add('Alt')
  let key = event.key
  if (event.code === 'Backquote') key = '`'
  else if (event.altKey && /^Key[A-Z]$/.test(event.code)) key = event.code.slice(3)
  else if (event.altKey && /^Digit[0-9]$/.test(event.code)) key = event.code.slice(5)
  else if (key.length === 1) key = key.toUpperCase()
  if (event.shiftKey && !(shiftedSymbol.test(key) && key !== '`')) held.add('Shift')
  return writePress({ modifiers: held, key })
}

/** Keys that must not type: those with a modifier other than Shift, and function keys. Others act outside of text only. */
export function actsInText(binding: string): boolean {
  const { modifiers: held, key } = parsePress(binding.split(' ')[0] ?? '')
  return held.has('Mod') || held.has('Ctrl') || held.has('Meta') || held.has('Alt') || /^F\d+$/.test(key)
}

/** A focused terminal keeps plain Ctrl with a letter or a control character's symbol for the program in it (S-177). */
export function terminalKeeps(binding: string, mac: boolean = isMac): boolean {
  const { modifiers: held, key } = parsePress(binding.split(' ')[0] ?? '')
  const control = held.has('Ctrl') || (!mac && held.has('Mod'))
  return control && !held.has('Shift') && !held.has('Alt') && /^[A-Z@[\]\\^_/ ]$/.test(key)
}

/** Keys that an editor has another meaning for: find, select the line, comment it out. */
const editorOwn: ReadonlySet<string> = new Set(['Mod+F', 'Mod+L', 'Mod+/', 'F3', 'Shift+F3'])

export interface BoundCommand {
  id: string
  /** Acts only while a terminal has the focus, and then before others on the same keys. */
  inTerminal: boolean
  /** Null where the person unbound it. */
  keys: string | null
  /** The person's choice, not the default: wins where two share a key. */
  chosen: boolean
}

/** Every command's binding: the person's (`settings.keys`), else the default. */
export function effectiveKeys(
  commands: readonly { id: string; keys?: string; inTerminal?: boolean }[],
  overrides: Record<string, string | null>,
): BoundCommand[] {
  return commands.map(({ id, keys, inTerminal = false }) => {
    const chosen = id in overrides
    const wanted = chosen ? overrides[id] : keys
    return { id, inTerminal, keys: wanted ? canonicalKeys(wanted) : null, chosen }
  })
}

/** Commands by binding, those of the terminal first, then chosen ones. */
function byKeys(bound: readonly BoundCommand[]): Map<string, BoundCommand[]> {
  const map = new Map<string, BoundCommand[]>()
  for (const one of bound) {
    if (one.keys === null) continue
    const wanting = [...(map.get(one.keys) ?? []), one]
    map.set(
      one.keys,
      wanting.sort((a, b) => Number(b.inTerminal) - Number(a.inTerminal) || Number(b.chosen) - Number(a.chosen)),
    )
  }
  return map
}

/** Ids of commands that share their keys with another one of the same place, by id: shown, never settled silently (S-177). */
export function keyConflicts(bound: readonly BoundCommand[]): Map<string, string[]> {
  const conflicts = new Map<string, string[]>()
  for (const wanting of byKeys(bound).values()) {
    for (const { id, inTerminal } of wanting) {
      const others = wanting.filter((other) => other.id !== id && other.inTerminal === inTerminal)
      if (others.length > 0)
        conflicts.set(
          id,
          others.map((other) => other.id),
        )
    }
  }
  return conflicts
}

const editable = 'input, textarea, select, [contenteditable=""], [contenteditable="true"], [role="textbox"]'

/** Where a key press lands, as far as bindings care. */
function keyPlace(target: EventTarget | null): 'terminal' | 'editor' | 'text' | 'elsewhere' {
  if (!(target instanceof Element)) return 'elsewhere'
  if (target.closest('.xterm')) return 'terminal'
  if (target.closest('.monaco-editor')) return 'editor'
  return target.closest(editable) ? 'text' : 'elsewhere'
}

/**
 * A `keydown` listener that runs bound commands. `run` answers whether the command did act: if not, the next one bound to
 * the same keys gets its chance, and if none acts the press goes on to the page.
 */
export function keyListener(
  bound: readonly BoundCommand[],
  run: (id: string, repeated: boolean) => boolean,
): (event: KeyboardEvent) => void {
  const handlers: Record<string, (event: KeyboardEvent) => void> = {}
  for (const [keys, wanting] of byKeys(bound)) {
    handlers[tinykeysBinding(keys)] = (event) => {
      const place = keyPlace(event.target)
      if (place === 'terminal' && terminalKeeps(keys)) return
      if (place === 'editor' && editorOwn.has(keys)) return
      if (place !== 'elsewhere' && !actsInText(keys)) return
      if (!wanting.some(({ id, inTerminal }) => (!inTerminal || place === 'terminal') && run(id, event.repeat))) return
      event.preventDefault()
      event.stopPropagation()
    }
  }
  const composing = (event: KeyboardEvent) =>
    event.defaultPrevented ||
    event.isComposing ||
    event.keyCode === 229 ||
    (!isMac && event.getModifierState('AltGraph'))
  return createKeybindingsHandler(handlers, { ignore: composing })
}
