/** The shown theme in the words of the terminal, the highlighter and the editor. Read again after `onThemeChange`. */
import type { ITheme } from '@xterm/xterm'
import type { editor } from 'monaco-editor'
import type { ThemeRegistrationRaw } from 'shiki'
import { colour, shownTheme } from './theme.ts'

export function terminalTheme(): ITheme {
  const ansi = (index: number) => colour(`term-${index}`)
  return {
    background: colour('term-background'),
    foreground: colour('term-foreground'),
    cursor: colour('term-cursor'),
    cursorAccent: colour('term-background'),
    selectionBackground: colour('term-selection'),
    selectionForeground: colour('term-foreground'),
    scrollbarSliderBackground: colour('pressed'),
    scrollbarSliderHoverBackground: colour('line-control'),
    scrollbarSliderActiveBackground: colour('line-control'),
    overviewRulerBorder: colour('line'),
    black: ansi(0),
    red: ansi(1),
    green: ansi(2),
    yellow: ansi(3),
    blue: ansi(4),
    magenta: ansi(5),
    cyan: ansi(6),
    white: ansi(7),
    brightBlack: ansi(8),
    brightRed: ansi(9),
    brightGreen: ansi(10),
    brightYellow: ansi(11),
    brightBlue: ansi(12),
    brightMagenta: ansi(13),
    brightCyan: ansi(14),
    brightWhite: ansi(15),
  }
}

/** TextMate scopes and Monaco's token names, by the token that colours them. */
const code: { token: string; scopes: string[]; monaco: string[]; style?: 'italic' }[] = [
  {
    token: 'code-comment',
    scopes: ['comment', 'punctuation.definition.comment', 'string.comment'],
    monaco: ['comment'],
    style: 'italic',
  },
  {
    token: 'code-keyword',
    scopes: [
      'keyword',
      'storage',
      'storage.type',
      'storage.modifier',
      'keyword.operator.expression',
      'keyword.operator.new',
      'variable.language.this',
      'keyword.control',
    ],
    monaco: ['keyword', 'storage'],
  },
  {
    token: 'code-string',
    scopes: ['string', 'string.quoted', 'string.regexp', 'markup.inline.raw', 'constant.character.escape'],
    monaco: ['string', 'regexp', 'attribute.value'],
  },
  { token: 'code-number', scopes: ['constant.numeric', 'keyword.other.unit'], monaco: ['number'] },
  {
    token: 'code-constant',
    scopes: ['constant', 'constant.language', 'variable.other.constant', 'support.constant'],
    monaco: ['constant'],
  },
  {
    token: 'code-function',
    scopes: ['entity.name.function', 'support.function', 'meta.function-call.generic', 'variable.function'],
    monaco: ['function', 'predefined'],
  },
  {
    token: 'code-type',
    scopes: [
      'entity.name.type',
      'entity.name.class',
      'entity.other.inherited-class',
      'support.type',
      'support.class',
      'entity.name.namespace',
    ],
    monaco: ['type', 'namespace', 'type.identifier'],
  },
  {
    token: 'code-property',
    scopes: [
      'variable.other.property',
      'support.type.property-name',
      'meta.object-literal.key',
      'entity.other.attribute-name',
    ],
    monaco: ['attribute.name', 'key', 'string.key.json'],
  },
  {
    token: 'code-tag',
    scopes: ['entity.name.tag', 'entity.name.section', 'markup.heading'],
    monaco: ['tag', 'metatag'],
  },
  {
    token: 'code-punctuation',
    scopes: ['punctuation', 'keyword.operator', 'meta.brace'],
    monaco: ['delimiter', 'operator'],
  },
  {
    token: 'code-variable',
    scopes: ['variable', 'variable.parameter', 'meta.definition.variable'],
    monaco: ['variable', 'identifier'],
  },
  { token: 'added', scopes: ['markup.inserted'], monaco: [] },
  { token: 'removed', scopes: ['markup.deleted'], monaco: [] },
  { token: 'accent-ink', scopes: ['markup.underline.link'], monaco: [] },
]

/** A theme for shiki (and the diff view), of plain values so it can be posted to a worker. Its name carries the theme. */
export function highlighterTheme(): ThemeRegistrationRaw & { name: string } {
  const theme = shownTheme()
  return {
    name: `lathe-${theme}`,
    type: theme === 'light' ? 'light' : 'dark',
    fg: colour('code-ink'),
    bg: colour('canvas'),
    colors: {
      'editor.background': colour('canvas'),
      'editor.foreground': colour('code-ink'),
      'gitDecoration.addedResourceForeground': colour('added'),
      'gitDecoration.deletedResourceForeground': colour('removed'),
      'gitDecoration.modifiedResourceForeground': colour('modified'),
    },
    settings: [
      { settings: { foreground: colour('code-ink'), background: colour('canvas') } },
      ...code.map(({ token, scopes, style }) => ({
        scope: scopes,
        settings: { foreground: colour(token), ...(style ? { fontStyle: style } : {}) },
      })),
      { scope: ['markup.bold'], settings: { fontStyle: 'bold' } },
      { scope: ['markup.italic'], settings: { fontStyle: 'italic' } },
    ],
  }
}

/** A theme for Monaco: `monaco.editor.defineTheme('lathe', editorTheme())`, defined again after each change. */
export function editorTheme(): editor.IStandaloneThemeData {
  const theme = shownTheme()
  return {
    base: theme === 'light' ? 'vs' : theme === 'dark' ? 'vs-dark' : 'hc-black',
    inherit: true,
    rules: code.flatMap(({ token, monaco, style }) =>
      monaco.map((name) => ({
        token: name,
        foreground: colour(token).slice(1, 7),
        ...(style ? { fontStyle: style } : {}),
      })),
    ),
    colors: {
      'editor.background': colour('canvas'),
      'editor.foreground': colour('code-ink'),
      'editorLineNumber.foreground': colour('faint'),
      'editorLineNumber.activeForeground': colour('ink'),
      'editor.selectionBackground': colour('text-selection'),
      'editor.lineHighlightBackground': colour('hover'),
      'editor.lineHighlightBorder': '#00000000',
      'editor.findMatchBackground': colour('match-current'),
      'editor.findMatchHighlightBackground': colour('match'),
      'editorCursor.foreground': colour('accent'),
      'editorIndentGuide.background1': colour('line'),
      'editorIndentGuide.activeBackground1': colour('line-strong'),
      'editorWidget.background': colour('raised'),
      'editorWidget.border': colour('line-strong'),
      'diffEditor.insertedLineBackground': colour('added-line'),
      'diffEditor.insertedTextBackground': colour('added-word'),
      'diffEditor.removedLineBackground': colour('removed-line'),
      'diffEditor.removedTextBackground': colour('removed-word'),
      'scrollbarSlider.background': colour('pressed'),
      focusBorder: colour('focus'),
    },
  }
}
