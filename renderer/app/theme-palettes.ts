/** The shown theme in the words of the terminal, the highlighter and the editor. Read again after `onThemeChange`. */
import type { ITheme } from '@xterm/xterm'
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
const code: { token: string; scopes: string[]; style?: 'italic' }[] = [
  {
    token: 'code-comment',
    scopes: ['comment', 'punctuation.definition.comment', 'string.comment'],
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
  },
  {
    token: 'code-string',
    scopes: ['string', 'string.quoted', 'string.regexp', 'markup.inline.raw', 'constant.character.escape'],
  },
  { token: 'code-number', scopes: ['constant.numeric', 'keyword.other.unit'] },
  {
    token: 'code-constant',
    scopes: ['constant', 'constant.language', 'variable.other.constant', 'support.constant'],
  },
  {
    token: 'code-function',
    scopes: ['entity.name.function', 'support.function', 'meta.function-call.generic', 'variable.function'],
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
  },
  {
    token: 'code-property',
    scopes: [
      'variable.other.property',
      'support.type.property-name',
      'meta.object-literal.key',
      'entity.other.attribute-name',
    ],
  },
  {
    token: 'code-tag',
    scopes: ['entity.name.tag', 'entity.name.section', 'markup.heading'],
  },
  {
    token: 'code-punctuation',
    scopes: ['punctuation', 'keyword.operator', 'meta.brace'],
  },
  {
    token: 'code-variable',
    scopes: ['variable', 'variable.parameter', 'meta.definition.variable'],
  },
  { token: 'added', scopes: ['markup.inserted'] },
  { token: 'removed', scopes: ['markup.deleted'] },
  { token: 'accent-ink', scopes: ['markup.underline.link'] },
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
