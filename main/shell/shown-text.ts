const hidden = /[\p{Cc}\p{Cf}\u2028\u2029\u{E0000}-\u{E007F}]/gu
const charsMax = 200

/** Text from outside for menus, tray, dialogs and notifications: one line, no controls or direction marks (Z-160, Z-200). */
export function shownText(text: string): string {
  return text.slice(0, charsMax).replaceAll(hidden, '\u{FFFD}')
}
