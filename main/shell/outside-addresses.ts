/** Addresses that go to the person's browser or mail program: each host confirmed once, and one at a time (Z-196). */
import { LatheError } from '../../preload/contract/errors.ts'
import { outsideAddress } from './page-origin.ts'

const betweenOpensMs = 2_000

/** Throws `request.invalid` for other schemes, within 2 s of the last one, and while the person is being asked. */
export function createOutsideAddresses(options: {
  confirm(address: { href: string; host: string }): Promise<boolean>
  open(href: string): Promise<void>
  /** Monotonic milliseconds. */
  now?: () => number
}): { open(url: string): Promise<void> } {
  const { confirm, open, now = () => performance.now() } = options
  const confirmedHosts = new Set<string>()
  let openedAt = -Infinity
  let asking = false

  async function mayOpen(address: { href: string; host: string }): Promise<boolean> {
    if (confirmedHosts.has(address.host)) return true
    asking = true
    try {
      if (!(await confirm(address))) return false
    } finally {
      asking = false
    }
    confirmedHosts.add(address.host)
    return true
  }

  return {
    async open(url) {
      const address = outsideAddress(url)
      if (!address) throw new LatheError('request.invalid', 'Only web and mail addresses are opened outside.')
      if (asking) throw new LatheError('request.invalid', 'Another address is being asked about.')
      if (now() - openedAt < betweenOpensMs)
        throw new LatheError('request.invalid', 'An address was opened a moment ago.', { hint: 'Try again.' })
      if (!(await mayOpen(address))) return
      openedAt = now()
      await open(address.href)
    },
  }
}
