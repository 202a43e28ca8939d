/** Syntax highlighting off the page's thread: languages are loaded as they are met. */
import { createHighlighterCore, type HighlighterCore } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import { bundledLanguages, bundledLanguagesAlias } from 'shiki/langs'
import { joinTokens } from './code-tokens.ts'
import type { HighlightAnswer, HighlightRequest } from './highlighter.ts'

let core: Promise<HighlighterCore> | undefined

async function highlight({ id, code, language, theme }: HighlightRequest): Promise<HighlightAnswer> {
  const load =
    bundledLanguages[language as keyof typeof bundledLanguages] ??
    bundledLanguagesAlias[language as keyof typeof bundledLanguagesAlias]
  if (!load) return { id, lines: null }
  core ??= createHighlighterCore({ engine: createJavaScriptRegexEngine({ forgiving: true }) })
  const highlighter = await core
  const cold = !highlighter.getLoadedLanguages().includes(language)
  await highlighter.loadLanguage(load)
  if (!highlighter.getLoadedThemes().includes(theme.name)) await highlighter.loadTheme(theme)
  // From here on the page's limit counts: loading a language is not the block's fault.
  postMessage({ id, started: true, cold })
  const { tokens } = highlighter.codeToTokens(code, {
    lang: language,
    theme: theme.name,
    tokenizeMaxLineLength: 2_000,
    tokenizeTimeLimit: 0,
  })
  const plain = theme.fg?.toLowerCase()
  return {
    id,
    lines: tokens.map((line) =>
      joinTokens(
        line.map(({ content, color, fontStyle }) => [
          content,
          color?.toLowerCase() === plain ? '' : (color ?? ''),
          (fontStyle ?? 0) & 1 ? 1 : 0,
        ]),
      ),
    ),
  }
}

addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => {
  highlight(data).then(postMessage, () => postMessage({ id: data.id, lines: null } satisfies HighlightAnswer))
})
