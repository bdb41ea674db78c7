/**
 * Why keys must not be fetched from this address, or `undefined`. Anyone between here and a plain
 * http:// address could replace the keys, and with them issue tokens.
 */
export function keyUrlProblem(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return 'is not a URL such as https://sso.example.com/keys'
  if (url.username !== '' || url.password !== '') {
    return 'must not contain a user name or a password; remove it'
  }
  if (url.hash !== '') return 'must not contain a fragment; remove it'
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:' && isLoopback(url.hostname)) return undefined
  return 'must use https://; http:// is accepted for loopback addresses only'
}

/** Whether the host of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname)
}
