/** Classes of IP addresses, as far as it matters who may be contacted (Z-16). */
import ipaddr from 'ipaddr.js'

/** `private` stands for all that is neither public nor this computer: reserved, documentation and translated ranges too. */
export type AddressClass = 'public' | 'loopback' | 'link_local' | 'private'

const global6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]
const nat64 = ipaddr.parseCIDR('64:ff9b::/96') as [ipaddr.IPv6, number]

/** `address` as the text of an IPv4 or IPv6 address, with or without brackets; null where it is none. */
export function classOfAddress(address: string): AddressClass | null {
  const parsed = parseAddress(address)
  if (!parsed) return null
  if (parsed.kind() === 'ipv4') return classOf4(parsed as ipaddr.IPv4)
  const v6 = parsed as ipaddr.IPv6
  const range = v6.range()
  if (range === 'loopback') return 'loopback'
  if (range === 'linkLocal') return 'link_local'
  // Translated to IPv4 by the network: public where that is. It never is a way to this computer.
  if (v6.match(nat64)) {
    const bytes = v6.toByteArray().slice(12)
    return classOf4(new ipaddr.IPv4(bytes)) === 'public' ? 'public' : 'private'
  }
  return range === 'unicast' && v6.match(global6) ? 'public' : 'private'
}

function classOf4(address: ipaddr.IPv4): AddressClass {
  const range = address.range()
  if (range === 'unicast') return 'public'
  return range === 'loopback' ? 'loopback' : range === 'linkLocal' ? 'link_local' : 'private'
}

/** Whether `pattern`, an address or a range `ADDRESS/BITS`, holds `address`. */
export function holdsAddress(pattern: string, address: string): boolean {
  const one = parseAddress(address)
  if (!one) return false
  const exact = parseAddress(pattern)
  if (exact) return exact.kind() === one.kind() && exact.toNormalizedString() === one.toNormalizedString()
  if (!ipaddr.isValidCIDR(pattern)) return false
  const [base, bits] = ipaddr.parseCIDR(pattern)
  return base.kind() === one.kind() && one.match(base as never, bits)
}

/** An IPv4 address inside an IPv6 one is that IPv4 address. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const bare = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  // Four plain decimal parts only: other spellings of IPv4 are names until an address parser has read them.
  if (!/:/.test(bare) && !/^\d+\.\d+\.\d+\.\d+$/.test(bare)) return null
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null
}
