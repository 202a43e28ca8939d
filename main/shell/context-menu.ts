import type { ContextMenuParams, MenuItemConstructorOptions } from 'electron'
import { outsideAddress } from './page-origin.ts'
import { shownText } from './shown-text.ts'

type Asked = Pick<
  ContextMenuParams,
  'isEditable' | 'selectionText' | 'linkURL' | 'misspelledWord' | 'dictionarySuggestions' | 'editFlags'
>

/** The menu on a text field, a selection or a link, where the page has none of its own. Empty: no menu. */
export function contextMenuTemplate(
  { isEditable, selectionText, linkURL, misspelledWord, dictionarySuggestions, editFlags }: Asked,
  act: { replace(word: string): void; copy(text: string): void },
): MenuItemConstructorOptions[] {
  const spelling: MenuItemConstructorOptions[] =
    isEditable && misspelledWord !== ''
      ? [
          ...dictionarySuggestions
            .slice(0, 5)
            .map((word) => ({ label: shownText(word), click: () => act.replace(word) })),
          ...(dictionarySuggestions.length === 0 ? [{ label: 'No suggestions', enabled: false }] : []),
          { type: 'separator' },
        ]
      : []
  const address = outsideAddress(linkURL)
  const link: MenuItemConstructorOptions[] = address
    ? [{ label: 'Copy link', click: () => act.copy(address.href) }, { type: 'separator' }]
    : []
  if (isEditable)
    return [
      ...spelling,
      ...link,
      { role: 'cut', enabled: editFlags.canCut },
      { role: 'copy', enabled: editFlags.canCopy },
      { role: 'paste', enabled: editFlags.canPaste },
      { type: 'separator' },
      { role: 'selectAll', enabled: editFlags.canSelectAll },
    ]
  return selectionText.trim() === '' ? link.slice(0, 1) : [...link, { role: 'copy' }]
}
