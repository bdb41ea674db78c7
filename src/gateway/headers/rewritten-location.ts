import type { Received } from '../stages.ts'

/** How an upstream may write its own address in an absolute URL. */
interface OwnAddress {
  /** The origins of its targets: scheme, host, and port unless it is the scheme's own. */
  readonly origins: ReadonlySet<string>
  /** The Host header that it got, unless that is the target's own. */
  readonly sentHost: string | undefined
}

const names = new Set(['location', 'content-location'])
const form = /^(https?):\/\/([^/?#@\\]+)((?:[/?#].*)?)$/i

/**
 * Rewrites Location and Content-Location that name the upstream's own address, or the Host that it got, to
 * a path of ours, in place. The result is a path without a host (RFC 9110 10.2.2), because behind a TLS proxy
 * only the client knows our scheme and port.
 */
export function rewriteLocation(
  headers: string[],
  { route }: Pick<Received, 'route'>,
  address: OwnAddress,
): void {
  for (let at = 0; at < headers.length; at += 2) {
    if (!names.has((headers[at] as string).toLowerCase())) continue
    const rest = pathWithin(headers[at + 1] as string, address)
    const own = rest === undefined ? undefined : withPrefix(rest, route)
    if (own !== undefined) headers[at + 1] = own
  }
}

/** Path, query and fragment of a URL that is within the upstream. */
function pathWithin(value: string, { origins, sentHost }: OwnAddress): string | undefined {
  if (value.startsWith('/')) return value
  const [, scheme = '', authority = '', rest = ''] = form.exec(value) ?? []
  if (scheme === '') return undefined
  const isOurs =
    authority.toLowerCase() === sentHost?.toLowerCase() || origins.has(originOf(scheme, authority))
  if (!isOurs) return undefined
  return rest.startsWith('/') ? rest : `/${rest}`
}

function originOf(scheme: string, authority: string): string {
  return URL.parse(`${scheme}://${authority}`)?.origin ?? ''
}

/** Undoes `replacePrefix`; `undefined` if the path is outside it, or could be read as another host. */
function withPrefix(rest: string, route: Received['route']): string | undefined {
  if (namesHost.test(rest)) return undefined
  const { path, replacePrefix } = route ?? {}
  if (path === undefined || replacePrefix === undefined) return rest
  // A service that knows X-Forwarded-Prefix has added it already.
  if (path !== '/' && cutPrefix(rest, path) !== undefined) return rest
  const inside = replacePrefix === '/' ? rest : cutPrefix(rest, replacePrefix)
  if (inside === undefined) return undefined
  const own = path === '/' ? inside || '/' : path + inside
  return namesHost.test(own) ? undefined : own
}

/** `//evil.test` and `/\evil.test` are URLs of another host to a browser, which ignores tabs (CWE-601). */
const namesHost = /^\/\t*[/\\]/

function cutPrefix(rest: string, prefix: string): string | undefined {
  if (!rest.startsWith(prefix)) return undefined
  const inside = rest.slice(prefix.length)
  return inside === '' || /^[/?#]/.test(inside) ? inside : undefined
}
