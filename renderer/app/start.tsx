/** Starts the window on a connection: stores first, then what is drawn from them. */
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { type Link, setLink } from '../state/link.ts'
import { loadPreferences, takeSharedPreferences, writePreferences } from '../state/preferences.ts'
import { startWorkbench } from '../state/workbench-store.ts'
import { App, type PageConnection } from './app.tsx'
import { takeNotification } from './notifications.ts'
import { takeShellRequests } from './shell-requests.ts'
import { fontStack } from './theme.ts'

/** How long the layout of last time is waited for before the usual one is shown. */
const preferencesMs = 2_000
/** How long the letters are waited for before others stand in. */
const fontsMs = 300

export async function startWindow(connection: Link & PageConnection, root: HTMLElement): Promise<void> {
  const { client } = connection
  setLink(connection)
  const closing = new AbortController()
  takeShellRequests(closing.signal)
  startWorkbench(connection, closing.signal, (event) => {
    if (event.type === 'preferences.changed') takeSharedPreferences(event.preferences)
    else takeNotification(event)
  })
  addEventListener('pagehide', () => {
    void writePreferences()
    closing.abort()
  })
  await Promise.all([within(preferencesMs, loadPreferences(client)), within(fontsMs, loadFonts())])
  createRoot(root).render(
    <StrictMode>
      <App connection={connection} />
    </StrictMode>,
  )
}

/** Loaded before anything is drawn: nothing moves when letters of another width come, and terminals measure the true ones. */
async function loadFonts(): Promise<void> {
  await Promise.all((['sans', 'mono'] as const).map((token) => document.fonts.load(`1rem ${fontStack(token)}`)))
}

function within(ms: number, work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work, new Promise((resolve) => setTimeout(resolve, ms))])
}
