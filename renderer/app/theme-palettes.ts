/** The shown theme in the words of the terminal, the highlighter and the editor. Read again after `onThemeChange`. */
import type { ITheme } from '@xterm/xterm'
import type { editor } from 'monaco-editor/editor/editor.api.js'
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

/** Monaco's names of tokens, by the token that colours them. */
const editorCode: { token: string; names: string[]; style?: 'italic' | 'bold' }[] = [
  { token: 'code-comment', names: ['comment'], style: 'italic' },
  { token: 'code-keyword', names: ['keyword', 'operator.sql', 'predefined.sql'] },
  { token: 'code-string', names: ['string', 'regexp', 'string.escape', 'attribute.value'] },
  { token: 'code-number', names: ['number', 'constant.numeric', 'attribute.value.number', 'attribute.value.unit'] },
  { token: 'code-constant', names: ['constant', 'variable.predefined'] },
  { token: 'code-function', names: ['function', 'predefined', 'support.function'] },
  { token: 'code-type', names: ['type', 'type.identifier', 'namespace', 'annotation'] },
  { token: 'code-property', names: ['attribute.name', 'key', 'string.key', 'property'] },
  { token: 'code-tag', names: ['tag', 'metatag', 'keyword.md', 'strong.md'] },
  { token: 'code-punctuation', names: ['delimiter', 'operator', 'keyword.operator'] },
  { token: 'code-variable', names: ['variable', 'identifier'] },
  { token: 'accent-ink', names: ['string.link'] },
]

export function editorTheme(): editor.IStandaloneThemeData {
  const light = shownTheme() === 'light'
  const bare = (token: string) => colour(token).slice(1)
  return {
    base: light ? 'vs' : 'vs-dark',
    inherit: false,
    rules: [
      { token: '', foreground: bare('code-ink'), background: bare('canvas') },
      ...editorCode.flatMap(({ token, names, style }) =>
        names.map((name) => ({ token: name, foreground: bare(token), ...(style ? { fontStyle: style } : {}) })),
      ),
    ],
    colors: {
      foreground: colour('ink'),
      focusBorder: colour('focus'),
      'editor.background': colour('canvas'),
      'editor.foreground': colour('code-ink'),
      'editorCursor.foreground': colour('accent'),
      'editor.selectionBackground': colour('text-selection'),
      'editor.inactiveSelectionBackground': colour('selected'),
      'editor.lineHighlightBackground': colour('hover'),
      'editor.lineHighlightBorder': '#00000000',
      'editor.findMatchBackground': colour('match-current'),
      'editor.findMatchHighlightBackground': colour('match'),
      'editor.rangeHighlightBackground': '#00000000',
      'editor.wordHighlightBackground': colour('selected'),
      'editor.wordHighlightStrongBackground': colour('selected'),
      'editor.wordHighlightTextBackground': colour('selected'),
      'editorLineNumber.foreground': colour('faint'),
      'editorLineNumber.activeForeground': colour('ink'),
      'editorGutter.background': colour('canvas'),
      'editorGutter.foldingControlForeground': colour('faint'),
      'editorIndentGuide.background1': colour('line'),
      'editorIndentGuide.activeBackground1': colour('line-strong'),
      'editorBracketMatch.background': colour('selected'),
      'editorBracketMatch.border': colour('line-control'),
      'editorWhitespace.foreground': colour('faint'),
      'editorUnicodeHighlight.border': colour('needs'),
      'editorUnicodeHighlight.background': colour('needs-soft'),
      'editorWidget.background': colour('raised'),
      'editorWidget.foreground': colour('ink'),
      'editorWidget.border': colour('line-strong'),
      'widget.shadow': '#00000000',
      'input.background': colour('field'),
      'input.foreground': colour('ink'),
      'input.border': colour('line-control'),
      'input.placeholderForeground': colour('faint'),
      'inputOption.activeBackground': colour('accent-soft'),
      'inputOption.activeBorder': colour('accent'),
      'inputOption.activeForeground': colour('accent-ink'),
      'list.hoverBackground': colour('hover'),
      'list.focusBackground': colour('selected'),
      'menu.background': colour('raised'),
      'menu.foreground': colour('ink'),
      'menu.selectionBackground': colour('selected'),
      'menu.selectionForeground': colour('ink'),
      'menu.separatorBackground': colour('line'),
      'quickInput.background': colour('raised'),
      'quickInput.foreground': colour('ink'),
      'scrollbarSlider.background': colour('pressed'),
      'scrollbarSlider.hoverBackground': colour('line-control'),
      'scrollbarSlider.activeBackground': colour('line-control'),
      'editorOverviewRuler.border': '#00000000',
      'diffEditor.insertedLineBackground': colour('added-line'),
      'diffEditor.removedLineBackground': colour('removed-line'),
      'diffEditor.insertedTextBackground': `${colour('added')}38`,
      'diffEditor.removedTextBackground': `${colour('removed')}38`,
      'diffEditor.border': colour('line'),
      'diffEditor.unchangedRegionBackground': colour('sunken'),
      'diffEditor.unchangedRegionForeground': colour('muted'),
      'diffEditorGutter.insertedLineBackground': colour('added-line'),
      'diffEditorGutter.removedLineBackground': colour('removed-line'),
    },
  }
}
