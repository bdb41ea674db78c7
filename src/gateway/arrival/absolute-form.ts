import type { Arrival } from './arrival.ts'

/** Scheme and authority, as strict as a Host header: user information, for one, is an attack. */
const start = /^(https?):\/\/((?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?)(?=[/?]|$)/i

/**
 * A request whose target is a URL, as every server must accept (RFC 9112 3.2.2), in the usual form: its
 * target begins with the path, and its host is the one of the URL, whatever its Host header says. All
 * other targets stay as they are.
 */
export function inOriginForm(arrival: Arrival): Arrival {
  const { method, target, httpVersion } = arrival
  if (target.startsWith('/') || httpVersion !== '1.1') return arrival
  const [url, scheme, authority] = start.exec(target) ?? []
  if (url === undefined || scheme === undefined) return arrival
  const rest = target.slice(url.length)
  // RFC 9112 3.2.4: OPTIONS without a path is about the whole server.
  const path = rest === '' && method === 'OPTIONS' ? '*' : rest.startsWith('/') ? rest : `/${rest}`
  return { ...arrival, target: path, url: { scheme: scheme.toLowerCase(), authority } }
}
