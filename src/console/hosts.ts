import { isIP } from 'node:net'

/** Whether requests for this Host are meant for the console. */
export type IsOwnHost = (host: string | undefined) => boolean

/**
 * DNS rebinding: a page of another site gives its own name our address, and then reads our answers as
 * its own. It needs a name for that, so names are a closed list and addresses pass. Ports do not
 * matter: `kubectl port-forward` and containers map them.
 */
export function createOwnHosts(settings: {
  readonly host: string
  readonly url?: string | undefined
}): IsOwnHost {
  const { host, url } = settings
  const publicName = url === undefined ? [] : [new URL(url).hostname]
  const names = new Set(['localhost', host.toLowerCase(), ...publicName])

  return (given) => {
    const [, bracketed, plain] =
      /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(given ?? '') ?? []
    if (bracketed !== undefined) return isIP(bracketed) === 6
    if (plain === undefined) return false
    return isIP(plain) === 4 || names.has(plain.toLowerCase())
  }
}
