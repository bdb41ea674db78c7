import { BlockList, isIP } from 'node:net'

/** Whether an address is that of a trusted proxy. */
export type IsTrusted = (address: string) => boolean

/** Trusts only these addresses and CIDR ranges. */
export function createTrust(ranges: readonly string[]): IsTrusted {
  const trusted = new BlockList()
  for (const range of ranges) addRange(trusted, range)
  return (address) => {
    const version = isIP(address)
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }
}

function addRange(list: BlockList, range: string): void {
  const [address = '', bits] = range.split('/', 2)
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
}
