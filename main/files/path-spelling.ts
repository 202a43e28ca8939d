/** What can be said of a path from its letters alone, before the disk or the network is touched (F-102, F-109). */
import { LatheError } from '../../preload/contract/errors.ts'

/** Characters of a path; longer ones are no file's (F-102). */
const pathCharsMax = 4_096

const deviceName = /^(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$)\s*(\.|$)/i

/** Throws `path.invalid` where no file can have this path. */
export function checkSpelling(path: string, platform: NodeJS.Platform = process.platform): void {
  if (path === '') throw invalid('The path is empty.')
  if (path.includes('\0')) throw invalid('The path holds a NUL character.')
  if (path.length > pathCharsMax) throw invalid(`The path has over ${pathCharsMax.toLocaleString('en')} characters.`)
  if (platform === 'win32') checkWindowsSpelling(path)
}

/** Looking at a UNC path would send credentials, a device name would open a device: both are refused unseen. */
function checkWindowsSpelling(path: string): void {
  if (/^[\\/]{2}/.test(path)) throw invalid('Network and device paths are not opened.')
  if (/^[a-z]:(?![\\/])/i.test(path))
    throw invalid(`"${path}" depends on a drive's current folder; give the whole path.`)
  for (const segment of path.replace(/^[a-z]:/i, '').split(/[\\/]/)) {
    if (segment === '.' || segment === '..') continue
    if (segment.includes(':')) throw invalid(`"${segment}" names a stream of a file, not a file.`)
    if (deviceName.test(segment)) throw invalid(`"${segment}" is the name of a device.`)
    if (/[. ]$/.test(segment)) throw invalid(`"${segment}" ends in a dot or a blank.`)
  }
}

/** One name for all spellings of a file: composed Unicode, and without case where its disk ignores case (F-107). */
export function pathKey(real: string, ignoresCase: boolean): string {
  const composed = real.normalize('NFC')
  return ignoresCase ? composed.toLowerCase() : composed
}

function invalid(message: string): LatheError {
  return new LatheError('path.invalid', message)
}
