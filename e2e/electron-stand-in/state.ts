/** What the shell did to the machine, for a test to look at, and what a test does as the person. */

export type MenuEntry = {
  id?: string
  label?: string
  role?: string
  type?: string
  accelerator?: string
  enabled?: boolean
  submenu?: MenuEntry[]
}

export type WindowRecord = {
  id: number
  url: string
  focused: boolean
  shown: boolean
  bounds: { x: number; y: number; width: number; height: number }
  devTools: boolean
}

export type NativeState = {
  /** Where Chromium can be spoken to. */
  endpoint: string
  /** Milliseconds from the start of the process to the first window that could be shown; null before. */
  readyMs: number | null
  windows: WindowRecord[]
  menu: MenuEntry[]
  contextMenu: MenuEntry[] | null
  tray: { tooltip: string; menu: MenuEntry[] } | null
  notifications: { id: number; title: string; body: string; state: 'shown' | 'clicked' | 'closed' }[]
  /** Dialogs that wait for the person, and those answered. */
  dialogs: { id: number; kind: string; options: Record<string, unknown>; answered: boolean }[]
  badge: number
  openedOutside: string[]
  revealed: string[]
  clipboard: string
  /** What was refused: `navigate URL`, `open URL`, `download URL`, `permission NAME`. */
  refused: string[]
  saved: string[]
  staysAwake: boolean
  protocolClients: string[]
  sandboxed: boolean
  /** Switches of the command line that were taken away. */
  switchesRemoved: string[]
  theme: string
}

export const state: NativeState = {
  endpoint: '',
  readyMs: null,
  windows: [],
  menu: [],
  contextMenu: null,
  tray: null,
  notifications: [],
  dialogs: [],
  badge: 0,
  openedOutside: [],
  revealed: [],
  clipboard: '',
  refused: [],
  saved: [],
  staysAwake: false,
  protocolClients: [],
  sandboxed: false,
  switchesRemoved: [],
  theme: 'system',
}

/** Whether the app is ready: much may be used only then, and some of it only before. */
let isReady = false
export function becomeReady(): void {
  isReady = true
}

/** For what can be used once the app is ready. */
export function tooEarly(): boolean {
  return !isReady
}

/** Throws where the app is ready already. */
export function onlyBeforeReady(what: string): void {
  if (isReady) throw new Error(`${what} can be called before the app is ready only.`)
}

/** What a test can do, by name; filled by the parts that do it. */
const acts = new Map<string, (input: never) => unknown>()

export function offer(name: string, act: (input: never) => unknown): void {
  acts.set(name, act)
}

/** Answers the test on the other side of this process's channel. */
export function listenForTheTest(): void {
  offer('state', () => state)
  process.on('message', (message: { id: number; act: string; input?: unknown }) => {
    void answer(message)
  })
  process.channel?.unref()
}

async function answer({ id, act, input }: { id: number; act: string; input?: unknown }): Promise<void> {
  try {
    const found = acts.get(act)
    if (!found) throw new Error(`The stand-in cannot ${act}.`)
    process.send?.({ id, result: (await found(input as never)) ?? null })
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}
