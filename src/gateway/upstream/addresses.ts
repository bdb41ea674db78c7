import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

interface AddressOptions {
  readonly host: string
  readonly refreshMs: number
  /** Called with the first addresses, and whenever they change. */
  readonly onChange: (addresses: readonly string[]) => void
  /** Called after every lookup, with an error if it failed or found nothing. */
  readonly onLookup?: (host: string, error: Error | null) => void
  readonly resolve?: Resolve
}

export type Resolve = (host: string) => Promise<readonly string[]>

/**
 * Follows the addresses of a name: a headless Kubernetes Service has many. Resolves a host name
 * again and again. A failed or empty lookup changes nothing: an unreachable name server must not
 * make the upstream unreachable. Does nothing for an IP address.
 */
export function watchAddresses(options: AddressOptions) {
  const { host, refreshMs, onChange, onLookup, resolve = lookUp } = options
  let known = ''
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function refresh(): Promise<void> {
    const found = await resolve(host).catch((error: Error) => error)
    if (closed) return
    const problem = found instanceof Error ? found : found.length === 0 ? nothingFound(host) : null
    onLookup?.(host, problem)
    const addresses = found instanceof Error ? [] : [...new Set(found)].sort()
    if (addresses.length > 0 && addresses.join() !== known) {
      known = addresses.join()
      onChange(addresses)
    }
    timer = setTimeout(refresh, refreshMs).unref()
  }

  if (isIP(host.replace(/^\[|\]$/g, '')) === 0) void refresh()
  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

function nothingFound(host: string): Error {
  return new Error(`no address found for ${host}`)
}

async function lookUp(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true })
  // A server with addresses of both families must not count twice.
  const family = found[0]?.family
  return found.filter((each) => each.family === family).map(({ address }) => address)
}
