/** Code in the colours of the shown theme, line by line, as the highlighter's worker finds them. */
import { memo, useEffect, useState } from 'react'
import { useShownTheme } from '../app/theme.ts'
import { classNames } from '../ui/class-names.ts'
import type { CodeToken } from './code-tokens.ts'
import { highlight, highlighted } from './highlighter.ts'

/** The lines of `code` as coloured parts; null until they are known, where it stays plain, and where it is `off`. */
export function useColours(code: string, language: string, off = false): CodeToken[][] | null {
  const theme = useShownTheme()
  const key = `${theme} ${language} ${code}`
  const [found, setFound] = useState<{ key: string; lines: CodeToken[][] | null } | null>(null)
  useEffect(() => {
    if (off) return
    let over = false
    void highlight(code, language, theme).then((lines) => over || setFound({ key, lines }))
    return () => void (over = true)
  }, [code, language, theme, key, off])
  return off ? null : found?.key === key ? found.lines : highlighted(code, language, theme)
}

/** One line's parts. */
export const ColouredLine = memo(function ColouredLine({ tokens }: { tokens: CodeToken[] }) {
  return tokens.map(([text, colour, italic], index) =>
    colour === '' && italic === 0 ? (
      text
    ) : (
      <span key={index} className={classNames(italic === 1 && 'italic')} style={colour === '' ? {} : { color: colour }}>
        {text}
      </span>
    ),
  )
})
