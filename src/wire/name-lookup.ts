import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Called with the result of each name lookup. */
export type OnLookup = (host: string, error: Error | null) => void

/**
 * Node's lookup, for one name. While no name server responds, it returns the last result: the target
 * most likely still has that address. Node skips it for IP addresses.
 */
export function createNameLookup(
  onLookup: OnLookup = () => {},
  lookUp: LookupFunction = lookup,
): LookupFunction {
  let known: Parameters<Parameters<LookupFunction>[2]> | undefined

  return (host, options, found) => {
    lookUp(host, options, (error, ...addresses) => {
      onLookup(host, error)
      if (error === null) known = [error, ...addresses]
      else if (error.code === 'EAI_AGAIN' && known !== undefined) {
        found(...known)
        return
      }
      found(error, ...addresses)
    })
  }
}
