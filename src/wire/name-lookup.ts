import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Learns how each lookup of a name ended. */
export type OnLookup = (host: string, error: Error | null) => void

/**
 * Node's own lookup, which it does not use for an address. While no name server answers, a name leads
 * where it led before: the target is most likely still there. For one name.
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
