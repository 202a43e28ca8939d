import type { ISearchOptions, SearchAddon } from '@xterm/addon-search'
import { CaseSensitive, Regex, WholeWord } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import { colour, useShownTheme } from '../app/theme.ts'
import { FindBar } from '../ui/find-bar.tsx'
import { IconButton } from '../ui/icon-button.tsx'

function isExpression(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    return false
  }
}

/** Find in the scrollback, with case, whole word and regular expression. */
export function TerminalFind({ search, onClose }: { search: SearchAddon; onClose: () => void }) {
  const [text, setText] = useState('')
  const [caseSensitive, setCase] = useState(false)
  const [wholeWord, setWord] = useState(false)
  const [regex, setRegex] = useState(false)
  const [found, setFound] = useState<{ index: number; count: number } | null>(null)
  // Matches are marked in the colours of the theme they were found in.
  const theme = useShownTheme()
  const invalid = regex && !isExpression(text)

  const options = (incremental: boolean): ISearchOptions => ({
    caseSensitive,
    wholeWord,
    regex,
    incremental,
    decorations: {
      matchBackground: colour('match'),
      matchOverviewRuler: colour('match-current'),
      activeMatchBackground: colour('match-current'),
      activeMatchColorOverviewRuler: colour('accent'),
    },
  })
  const find = (direction: 1 | -1, incremental = false) => {
    if (text === '' || invalid) search.clearDecorations()
    else if (direction === 1) search.findNext(text, options(incremental))
    else search.findPrevious(text, options(false))
  }
  const findAsTyped = useEffectEvent((_what: string) => {
    // The addon marks anew for another text only, not for the same one sought another way.
    search.clearDecorations()
    find(1, true)
  })
  useEffect(() => {
    const listening = search.onDidChangeResults(({ resultIndex, resultCount }) =>
      setFound({ index: resultIndex, count: resultCount }),
    )
    return () => listening.dispose()
  }, [search])
  useEffect(
    () => findAsTyped(`${text} ${caseSensitive} ${wholeWord} ${regex} ${theme}`),
    [text, caseSensitive, wholeWord, regex, theme],
  )

  const said =
    text === ''
      ? ''
      : invalid
        ? 'Not a valid expression'
        : !found || found.count === 0
          ? 'Nothing found'
          : found.index < 0
            ? `${found.count}`
            : `${found.index + 1} of ${found.count}`
  return (
    <FindBar label="Find in terminal" {...{ text, said, onClose }} onText={setText} onStep={(by) => find(by)}>
      <IconButton
        icon={CaseSensitive}
        label="Match case"
        size="small"
        pressed={caseSensitive}
        onClick={() => setCase(!caseSensitive)}
      />
      <IconButton
        icon={WholeWord}
        label="Whole word"
        size="small"
        pressed={wholeWord}
        onClick={() => setWord(!wholeWord)}
      />
      <IconButton
        icon={Regex}
        label="Regular expression"
        size="small"
        pressed={regex}
        onClick={() => setRegex(!regex)}
      />
    </FindBar>
  )
}
