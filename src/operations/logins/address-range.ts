import { BlockList, isIP } from 'node:net'
import { InvalidInput } from '../invalid-input.ts'

/** Reads an address or a range in CIDR notation. Throws `InvalidInput` on anything else. */
export function addressRange(field: string, text: string): (address: string) => boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  const most = version === 6 ? 128 : 32
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (version === 0 || rest.length > 0 || !(prefix <= most)) {
    throw new InvalidInput(
      field,
      `${JSON.stringify(text)} is not an address or a range such as 192.0.2.0/24 or 2001:db8::/32`,
    )
  }
  const range = new BlockList()
  range.addSubnet(address, prefix, version === 6 ? 'ipv6' : 'ipv4')
  return (other) => {
    const family = isIP(other)
    return family !== 0 && range.check(other, family === 6 ? 'ipv6' : 'ipv4')
  }
}
