/** Where the shell's page lives, and what may act as it: pure, so that each rule is tested without Electron. */

export const pageScheme = 'app'
/** The page's own origin (Z-151); deep links have a scheme of their own. */
export const pageOrigin = 'app://lathe'
/** Shown after too many crashes (Z-157); the only page that leads to another. */
export const crashedPath = '/crashed'

/** Whether a URL is of our page, whatever its path. */
function isOwnPage(url: string): boolean {
  const parsed = URL.parse(url)
  return (
    parsed?.protocol === `${pageScheme}:` && parsed.host === 'lathe' && parsed.username === '' && parsed.password === ''
  )
}

/** The entry of the page's file list that a request means; null for any other origin. */
export function pathOnPage(url: string): string | null {
  return isOwnPage(url) ? URL.parse(url)!.pathname : null
}

/** The main frame of our own page, and nothing else, may ask the shell for anything (Z-155). */
export function isOwnSender(sender: { frameUrl: string | null; isMainFrame: boolean }): boolean {
  return sender.frameUrl !== null && sender.isMainFrame && isOwnPage(sender.frameUrl)
}

/** Reloading is a navigation to where the page is already; the page shown after crashes leads back. All else stays (Z-153). */
export function mayNavigate(from: string, to: string): boolean {
  return isOwnPage(to) && (to === from || (pathOnPage(from) === crashedPath && pathOnPage(to) === '/'))
}

/** A file our page made itself, as an export, is saved where the person says; nothing else is downloaded (Z-153). */
export function isOwnDownload(url: string): boolean {
  return url.startsWith(`blob:${pageOrigin}/`)
}

const allowedPermissions = new Set(['clipboard-sanitized-write', 'notifications'])

/** Everything is denied but writing the clipboard and notifications, for our page's own frame (Z-154). */
export function isAllowed(permission: string, requestingUrl: string): boolean {
  return allowedPermissions.has(permission) && isOwnPage(requestingUrl)
}

/** An address a browser or mail program may be asked to open (Z-196); null for any other. */
export function outsideAddress(url: string): { href: string; host: string } | null {
  const parsed = URL.parse(url)
  if (!parsed || !['http:', 'https:', 'mailto:'].includes(parsed.protocol)) return null
  return { href: parsed.href, host: parsed.protocol === 'mailto:' ? 'mail' : parsed.host }
}
