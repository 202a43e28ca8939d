/** The emulator of one terminal on screen, set up with our colours, links and limits. Made when shown, gone when hidden. */
import { FitAddon } from '@xterm/addon-fit'
import { SearchAddon } from '@xterm/addon-search'
import { Unicode11Addon } from '@xterm/addon-unicode11'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { WebglAddon } from '@xterm/addon-webgl'
import { type ILink, Terminal } from '@xterm/xterm'
import { terminalTheme } from '../app/theme-palettes.ts'
import { fontStack, onThemeChange } from '../app/theme.ts'
import { client } from '../state/link.ts'
import { openFile, openLink } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { inWorkspace } from '../files/file-tree.ts'
import { fileOfAddress, fromFolder, pathPlaces } from './path-links.ts'
import { ScreenCommands } from './screen-commands.ts'
import { shownLine } from './shown-line.ts'
import { speakOutput } from './spoken-output.ts'

export interface Screen {
  term: Terminal
  search: SearchAddon
  commands: ScreenCommands
  /** Fits the grid to its element; answers its size, or null while there is none. */
  fit(): { cols: number; rows: number } | null
  /** Pixels. */
  setType(px: number): void
  /** Whether its rows are there as text for a screen reader. */
  offerText(offered: boolean): void
  /** Forgets all rows but the cursor's, here and in the host. */
  clear(): void
  dispose(): void
}

/** Text a program may put on the clipboard, in base64 characters. */
const clipboardMax = 1024 * 1024

const withModifier = (event: MouseEvent) => event.ctrlKey || event.metaKey

function openTarget(workspace: string, url: string): void {
  const file = fileOfAddress(url)
  if (!file) return void openLink(url)
  const { path, ...at } = file
  // Files of the workspace only; others are not the inspector's to show (Z-197).
  if (path.startsWith(`${workspace}/`)) openFile(workspace, inWorkspace(workspace, path), at)
}

type ScreenOptions = {
  workspace: string
  /** Where its shell is: what paths in its output are relative to. */
  folder(): string
  /** Pixels. */
  typePx: number
  /** Hears what the pointer is over, so that the true target can be shown (Z-191). */
  onLink(target: string | null): void
  cleared(): void
  /** New output for a screen reader. */
  say(text: string): void
}

export function createScreen(
  element: HTMLElement,
  { workspace, folder, typePx, onLink, cleared, say }: ScreenOptions,
): Screen {
  const { settings } = useWorkbench.getState()
  const term = new Terminal({
    allowProposedApi: true,
    fontFamily: fontStack('mono'),
    fontSize: typePx,
    lineHeight: 1.25,
    cursorBlink: true,
    cursorInactiveStyle: 'outline',
    minimumContrastRatio: 4.5,
    scrollback: settings['terminal.scrollback'],
    macOptionIsMeta: true,
    rightClickSelectsWord: false,
    theme: terminalTheme(),
    linkHandler: {
      allowNonHttpProtocols: true,
      activate: (event, url) => withModifier(event) && openTarget(workspace, url),
      hover: (_event, url) => onLink(url),
      leave: () => onLink(null),
    },
  })
  const fit = new FitAddon()
  const search = new SearchAddon({ highlightLimit: 1_000 })
  const links = new WebLinksAddon((event, url) => void (withModifier(event) && openLink(url)), {
    hover: (_event, url) => onLink(url),
    leave: () => onLink(null),
  })
  for (const addon of [fit, search, links, new Unicode11Addon()]) term.loadAddon(addon)
  term.unicode.activeVersion = '11'
  guardSequences(term)
  term.registerLinkProvider({
    provideLinks: (row, answer) =>
      void fileLinks(term, { workspace, folder: folder(), row, onLink }).then(answer, () => answer(undefined)),
  })
  const commands = new ScreenCommands(term)
  term.open(element)
  drawWithGpu(term)
  let speaking: { dispose(): void } | undefined
  const unfollow = onThemeChange(() => (term.options.theme = terminalTheme()))
  return {
    term,
    search,
    commands,
    fit() {
      const size = fit.proposeDimensions()
      if (!size || !Number.isFinite(size.cols) || !Number.isFinite(size.rows)) return null
      fit.fit()
      return { cols: term.cols, rows: term.rows }
    },
    setType(px) {
      term.options.fontSize = px
    },
    offerText(offered) {
      term.options.screenReaderMode = offered
      // It would tell every row at once; `spoken-output.ts` tells, at a pace that can be followed.
      element.querySelector('.live-region')?.setAttribute('aria-live', 'off')
      speaking?.dispose()
      speaking = offered ? speakOutput(term, say) : undefined
    },
    clear() {
      term.clear()
      cleared()
    },
    dispose() {
      unfollow()
      speaking?.dispose()
      term.dispose()
    },
  }
}

/** The GPU draws faster; where there is none, or it goes away, the page's own renderer takes over. */
function drawWithGpu(term: Terminal): void {
  try {
    const gpu = new WebglAddon()
    gpu.onContextLoss(() => gpu.dispose())
    term.loadAddon(gpu)
  } catch {
    // No WebGL here: the renderer that is loaded anyway draws.
  }
}

/**
 * The host keeps the terminal's own screen and answers what a program asks of it (device status, colours); answers from
 * here would come a second time. The clipboard is written by setting only, and never read (Z-197, Z-198).
 */
function guardSequences(term: Terminal): void {
  const silent = () => true
  for (const id of [
    { final: 'c' },
    { prefix: '>', final: 'c' },
    { prefix: '=', final: 'c' },
    { final: 'n' },
    { prefix: '?', final: 'n' },
    { intermediates: '$', final: 'p' },
    { prefix: '?', intermediates: '$', final: 'p' },
    { prefix: '>', final: 'q' },
  ]) {
    term.parser.registerCsiHandler(id, silent)
  }
  term.parser.registerDcsHandler({ intermediates: '$', final: 'q' }, silent)
  for (const code of [4, 10, 11, 12]) term.parser.registerOscHandler(code, (data) => data.includes('?'))
  term.parser.registerOscHandler(52, (data) => {
    const body = data.slice(data.indexOf(';') + 1)
    if (body === '?' || body.length > clipboardMax || !useWorkbench.getState().settings['terminal.clipboardWrite'])
      return true
    try {
      const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
      navigator.clipboard.writeText(new TextDecoder().decode(bytes)).catch(() => {})
    } catch {
      // Not base64: nothing was asked for.
    }
    return true
  })
}

const known = new Map<string, Promise<ReadonlySet<string>>>()
const knownForMs = 5_000

/** Names in a folder of the workspace; asked once for many hovers. */
function namesIn(workspace: string, folder: string): Promise<ReadonlySet<string>> {
  const key = `${workspace}\n${folder}`
  let names = known.get(key)
  if (!names) {
    names = client()
      .files.list({ workspace, path: folder })
      .then(
        (nodes) => new Set(nodes.filter(({ kind }) => kind !== 'folder').map(({ name }) => name)),
        () => new Set<string>(),
      )
    known.set(key, names)
    setTimeout(() => known.delete(key), knownForMs)
  }
  return names
}

/** Files that the line of a row names and that exist. */
async function fileLinks(
  term: Terminal,
  {
    workspace,
    folder,
    row,
    onLink,
  }: { workspace: string; folder: string; row: number; onLink: (target: string | null) => void },
): Promise<ILink[] | undefined> {
  const { text, cells } = shownLine(term.buffer.active, row - 1)
  const links: ILink[] = []
  for (const { path, from, to, ...at } of pathPlaces(text)) {
    const inside = inWorkspace(workspace, fromFolder(folder, path))
    if (inside.startsWith('/') || inside.startsWith('../')) continue
    const cut = inside.lastIndexOf('/')
    const names = await namesIn(workspace, inside.slice(0, Math.max(0, cut)))
    if (!names.has(inside.slice(cut + 1))) continue
    links.push({
      text: text.slice(from, to),
      range: { start: cells[from]!, end: cells[to - 1]! },
      activate: (event) => withModifier(event) && openFile(workspace, inside, at),
      hover: () =>
        onLink([inside, at.line && `line ${at.line}`, at.column && `column ${at.column}`].filter(Boolean).join(', ')),
      leave: () => onLink(null),
    })
  }
  return links.length > 0 ? links : undefined
}
