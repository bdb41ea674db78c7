import { isIPv6 } from 'node:net'

/**
 * The network that one subscriber controls: an IPv4 address, or the first 64 bits of an IPv6 address,
 * because subscribers choose the other 64 freely. IPv4-mapped IPv6 counts as IPv4. Anything else is
 * returned unchanged.
 */
export function addressBlock(address: string): string {
  if (!address.includes(':')) return address
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return address

  const groups = groupsOf(plain)
  const [high = 0, low = 0] = groups.slice(6)
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
}

/** All eight groups, with `::` expanded and a dotted tail as two groups. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const first = numbersOf(head)
  const last = numbersOf(tail ?? '')
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last]
}

function numbersOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}
