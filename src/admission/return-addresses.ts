import { canonicalHost, hostPatterns } from './canonical-host.ts'
import { readOwnPath } from './own-path.ts'

/** Where the login page is, and which other hosts it may lead back to. */
interface ReturnSettings {
  readonly url?: string | undefined
  readonly hosts?: readonly string[] | undefined
}

/**
 * Where a browser may go after a login: a path of the host that it is on, or with `url` an address of one
 * of `hosts`, which has the scheme and the port of `url`. So no redirect leads to a stranger (CWE-601).
 */
export function createReturns({ url, hosts = [] }: ReturnSettings) {
  const page = url === undefined ? undefined : new URL(url)
  const patterns = new Set([page?.hostname ?? '', ...hosts])

  function originAt(host: string | undefined): string | undefined {
    const name = host === undefined ? undefined : canonicalHost(host)
    if (page === undefined || name === undefined) return undefined
    const port = page.port === '' ? '' : `:${page.port}`
    const isAllowed = [...hostPatterns(name)].some((pattern) => patterns.has(pattern))
    return isAllowed ? `${page.protocol}//${name}${port}` : undefined
  }

  return {
    /** An address that the browser names, in one spelling, or `undefined`. */
    read(address: string): string | undefined {
      if (address.startsWith('/')) return readOwnPath(address)
      const [, scheme = '', host, rest = ''] = form.exec(address) ?? []
      const origin = originAt(host)
      const written = URL.parse(`${scheme}://${host}`)?.origin
      if (origin === undefined || written !== origin) return undefined
      const path = readOwnPath(rest.startsWith('/') ? rest : `/${rest}`)
      return path === undefined ? undefined : origin + path
    },
    /** The address of a request for this host, for a browser on the login page. */
    back(host: string | undefined, target: string): string | undefined {
      const path = readOwnPath(target)
      if (page === undefined || path === undefined) return path
      const origin = originAt(host)
      if (origin === page.origin) return path
      return origin === undefined ? undefined : origin + path
    },
  }
}

export type Returns = ReturnType<typeof createReturns>

/** Only characters that every reader of a URL takes for the same host. */
const form = /^(https?):\/\/((?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?)((?:[/?].*)?)$/i
