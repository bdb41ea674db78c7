import { BlockList, isIP } from 'node:net'

export interface AddressLists {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

/**
 * Whether a client address is on the lists of a route: deny wins, and with `allow`, everything else
 * is refused. An address that is not an IP address is refused, because no list can name it.
 */
export function createAddressFilter({ allow, deny }: AddressLists): (address: string) => boolean {
  const allowed = allow && blockList(allow)
  const denied = deny && blockList(deny)

  return (address) => {
    const [plain = ''] = address.split('%', 1)
    const version = isIP(plain)
    if (version === 0) return false
    const family = version === 6 ? 'ipv6' : 'ipv4'
    if (denied?.check(plain, family)) return false
    return allowed === undefined || allowed.check(plain, family)
  }
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) addRange(list, range)
  return list
}

/** A range of IPv4-mapped IPv6 addresses is also one of IPv4 addresses, which is how clients appear. */
const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const mappedBits = 96

function addRange(list: BlockList, range: string): void {
  const [address = '', prefix] = range.split('/', 2)
  const inner = mapped.exec(address)?.[1]
  const bits = prefix === undefined ? undefined : Number(prefix)
  if (inner !== undefined && (bits === undefined || bits >= mappedBits)) {
    list.addSubnet(inner, bits === undefined ? 32 : bits - mappedBits, 'ipv4')
  } else if (isIP(address) === 6) list.addSubnet(address, bits ?? 128, 'ipv6')
  else list.addSubnet(address, bits ?? 32, 'ipv4')
}
