import { isIPv4, isIPv6 } from 'node:net'

/** The host of a request in its one spelling, or `undefined` if it has none. */
export type ReadHost = (raw: string) => string | undefined

/**
 * The one spelling of a host, as there is one of a path: lower case, without port and final dot, IPv6 in
 * brackets and compressed, names in ASCII (A-labels). `undefined` for everything else, such as user
 * information, empty labels, and numbers that some clients read as IPv4 (`127.1`, `0x7f.0.0.1`).
 */
export function canonicalHost(raw: string): string | undefined {
  const [, text, port] = hostForm.exec(raw) ?? []
  if (text === undefined || (port !== undefined && Number(port) > 65_535)) return undefined
  if (text.startsWith('[')) return canonicalIPv6(text.slice(1, -1))

  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase()
  if (name.length > 253) return undefined
  const labels = name.split('.')
  if (!labels.every((label) => labelForm.test(label))) return undefined
  // WHATWG URL, host parsing: a name whose last label is a number is an IPv4 address, or nothing.
  return /^(?:\d+|0x[\da-f]*)$/.test(labels.at(-1) ?? '') && !isIPv4(name) ? undefined : name
}

const hostForm = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/
/** RFC 1035 2.3.4 limits labels to 63 characters. Names of containers have underscores. */
const labelForm = /^[a-z0-9_-]{1,63}$/

function canonicalIPv6(address: string): string | undefined {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname : undefined
}

/** Clients choose what is kept, so the number of entries is limited. */
const maxRemembered = 1000

/** `canonicalHost` with a memory: nearly all requests name one of a few hosts. */
export function createHostReader(): ReadHost {
  const known = new Map<string, string>()
  return (raw) => {
    const found = known.get(raw)
    if (found !== undefined) return found
    const host = canonicalHost(raw)
    if (host === undefined) return undefined
    if (known.size >= maxRemembered) known.clear()
    known.set(raw, host)
    return host
  }
}

/**
 * The patterns that match a canonical host, most specific first: the host itself, then `*.` and ever
 * fewer of its last labels. `*.example.com` matches any number of labels, but not `example.com`.
 */
export function* hostPatterns(host: string): Generator<string> {
  yield host
  // An address has no parent domains.
  if (host.startsWith('[') || isIPv4(host)) return
  for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
    yield `*${host.slice(dot)}`
  }
}
