/** The editor, set up once: the parts of it we use, its worker from our own origin, our colours. Loaded lazily. */
import 'monaco-editor/features/anchorSelect/register.js'
import 'monaco-editor/features/bracketMatching/register.js'
import 'monaco-editor/features/caretOperations/register.js'
import 'monaco-editor/features/clipboard/register.js'
import 'monaco-editor/features/codicon/register.js'
import 'monaco-editor/features/comment/register.js'
import 'monaco-editor/features/contextmenu/register.js'
import 'monaco-editor/features/cursorUndo/register.js'
import 'monaco-editor/features/diffEditor/register.js'
import 'monaco-editor/features/dnd/register.js'
import 'monaco-editor/features/find/register.js'
import 'monaco-editor/features/folding/register.js'
import 'monaco-editor/features/gotoLine/register.js'
import 'monaco-editor/features/indentation/register.js'
import 'monaco-editor/features/lineSelection/register.js'
import 'monaco-editor/features/linesOperations/register.js'
import 'monaco-editor/features/longLinesHelper/register.js'
import 'monaco-editor/features/multicursor/register.js'
import 'monaco-editor/features/readOnlyMessage/register.js'
import 'monaco-editor/features/smartSelect/register.js'
import 'monaco-editor/features/toggleTabFocusMode/register.js'
import 'monaco-editor/features/tokenization/register.js'
import 'monaco-editor/features/unicodeHighlighter/register.js'
import 'monaco-editor/features/wordHighlighter/register.js'
import 'monaco-editor/features/wordOperations/register.js'
import 'monaco-editor/features/wordPartOperations/register.js'
import 'monaco-editor/basic-languages/monaco.contribution.js'
import * as monaco from 'monaco-editor/editor/editor.api.js'
import { editorTheme } from '../app/theme-palettes.ts'
import { fontStack, onThemeChange, shownTheme } from '../app/theme.ts'

globalThis.MonacoEnvironment = {
  getWorker: () => new Worker(new URL('./editor-worker.ts', import.meta.url), { type: 'module' }),
}

// Its own rules come with a language service that wants the whole workspace; those of JavaScript colour it well.
monaco.languages.register({ id: 'json', extensions: ['.json', '.jsonc', '.json5', '.webmanifest', '.map'] })
monaco.languages.onLanguageEncountered('json', () => {
  void import('monaco-editor/languages/definitions/javascript/javascript.js').then(({ conf, language }) => {
    monaco.languages.setLanguageConfiguration('json', conf)
    monaco.languages.setMonarchTokensProvider('json', language)
  })
})

function useShownColours(): void {
  const name = `lathe-${shownTheme()}`
  monaco.editor.defineTheme(name, editorTheme())
  monaco.editor.setTheme(name)
}
useShownColours()
onThemeChange(useShownColours)

const typePx = 12
const linePx = 20

/** Options of every editor; text is as large as in the rest of the window. */
export function editorOptions(zoom: number): monaco.editor.IEditorOptions & monaco.editor.IGlobalEditorOptions {
  return {
    fontFamily: fontStack('mono'),
    fontSize: typePx * zoom,
    lineHeight: linePx * zoom,
    fontLigatures: false,
    automaticLayout: true,
    scrollBeyondLastLine: false,
    minimap: { enabled: false },
    overviewRulerBorder: false,
    renderLineHighlight: 'line',
    renderLineHighlightOnlyWhenFocus: true,
    renderWhitespace: 'selection',
    // What hides in a line is shown (Z-200).
    renderControlCharacters: true,
    unicodeHighlight: { ambiguousCharacters: true, invisibleCharacters: true, nonBasicASCII: false },
    unusualLineTerminators: 'off',
    lineNumbersMinChars: 4,
    glyphMargin: false,
    bracketPairColorization: { enabled: false },
    hideCursorInOverviewRuler: true,
    lineDecorationsWidth: 8,
    folding: true,
    showFoldingControls: 'mouseover',
    padding: { top: 4, bottom: 12 },
    fixedOverflowWidgets: true,
    quickSuggestions: false,
    wordBasedSuggestions: 'off',
    occurrencesHighlight: 'singleFile',
    maxTokenizationLineLength: 2_000,
    stopRenderingLineAfter: 5_000,
    largeFileOptimizations: true,
    scrollbar: {
      verticalScrollbarSize: 10,
      horizontalScrollbarSize: 10,
      useShadows: false,
      alwaysConsumeMouseWheel: false,
    },
    find: { addExtraSpaceOnTop: false, autoFindInSelection: 'multiline', seedSearchStringFromSelection: 'selection' },
    stickyScroll: { enabled: false },
    accessibilitySupport: 'auto',
  }
}

export { monaco }
