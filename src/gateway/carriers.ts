import { consoleCookies } from '../kernel/console-cookies.ts'
import { Refusal } from '../kernel/errors.ts'
import { foldName } from '../kernel/reserved-headers.ts'
import type { Carrier } from './arrival/notes.ts'
import type { Received } from './stages.ts'

interface CarriedToken {
  readonly token: string
  readonly carrier: Carrier
}

/**
 * The first carrier that has a token, in the specification's order: header, query, cookie. A route may
 * name the only ones that count. `cookieName` is the name under which login sets the cookie.
 */
export function findToken(received: Received, cookieName: string): CarriedToken | undefined {
  const { headers, query } = received
  const carriers = carriersOf(received)

  const fromHeader = isRead('header', carriers) ? bearerToken(headers.authorization) : undefined
  if (fromHeader !== undefined) return { token: fromHeader, carrier: 'header' }

  const fromProgram = carriers && programToken(received, carriers)
  if (fromProgram !== undefined) return fromProgram

  const fromQuery = isRead('query', carriers)
    ? only(queryTokens(query), 'more than one token parameter')
    : undefined
  if (fromQuery !== undefined) return { token: fromQuery, carrier: 'query' }

  const fromCookie = isRead('cookie', carriers)
    ? only(tokenCookies(headers, cookieName), 'more than one jwt cookie')
    : undefined
  if (fromCookie !== undefined) return { token: fromCookie, carrier: 'cookie' }

  return undefined
}

function isRead(carrier: Carrier, carriers: readonly string[] | undefined): boolean {
  return carriers === undefined || carriers.includes(carrier)
}

/** In carriers that a route must name, for service tokens only: `identify` refuses any other. */
function programToken(
  { headers }: Received,
  carriers: readonly string[],
): CarriedToken | undefined {
  if (carriers.includes('basic')) {
    const password = basicCredentials(headers.authorization)?.replace(/^[^:]*:/, '')
    // Anything else may be the password of a person: it is neither checked nor logged.
    if (password !== undefined && jwtForm.test(password))
      return { token: password, carrier: 'basic' }
  }
  const names = keyHeaders(carriers)
  if (names.length === 0) return undefined
  const { passable } = headers
  const keys = passable.filter((_, at) => at % 2 === 1 && names.includes(nameAt(passable, at)))
  const token = only(keys, 'more than one API key')
  return token ? { token, carrier: 'key' } : undefined
}

const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** The name of the header at this place of name, value, name, value …, in lower case. */
const nameAt = (headers: readonly string[], at: number) =>
  (headers[at - (at % 2)] as string).toLowerCase()

/** The headers, in lower case, in which a route looks for an API key. */
export function keyHeaders(carriers: readonly string[] | undefined): readonly string[] {
  return carriers?.filter((each) => each.includes('-')).map((name) => name.toLowerCase()) ?? []
}

/** Without those headers, also in other spellings that a service reads as their names. */
export function withoutKeys(
  headers: readonly string[],
  carriers: readonly string[],
): readonly string[] {
  const names = keyHeaders(carriers)
  if (names.length === 0) return headers
  return headers.filter((_, at) => !names.includes(foldName(nameAt(headers, at))))
}

/** Name and password of HTTP Basic (RFC 7617), with a colon between them. */
function basicCredentials(authorization: string | undefined): string | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '') ?? []
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('latin1')
}

/** The carriers that a route reads; `undefined`: all of them. Our own endpoints always read all. */
export function carriersOf({ route, endpoint }: Received): readonly string[] | undefined {
  return endpoint === undefined ? route?.carriers : undefined
}

/** What the request has in a carrier, decoded, whether or not it is a token. */
export function carriedTexts(
  carrier: 'header' | 'query' | 'cookie',
  { headers, query }: Received,
): readonly string[] {
  switch (carrier) {
    case 'header':
      return [headers.authorization ?? '', basicCredentials(headers.authorization) ?? '']
    case 'query':
      return queryTokens(query)
    case 'cookie':
      return cookieTokens(headers.cookies, [...ofToken])
  }
}

/** The query for the upstream: without the token, the rest byte for byte. */
export function queryWithoutToken(query: string): string {
  if (!mayNameToken(query)) return query
  return query
    .split('&')
    .filter((parameter) => !isTokenParameter(parameter))
    .join('&')
}

/** A path or a URL without the token in its query. */
export function addressWithoutToken(address: string): string {
  const mark = address.indexOf('?')
  if (mark === -1) return address
  const query = queryWithoutToken(address.slice(mark + 1))
  return address.slice(0, mark) + (query === '' ? '' : `?${query}`)
}

/** A Cookie header without the cookie of the token, the others byte for byte; `undefined` if nothing is left. */
export function cookieWithoutToken(cookie: string): string | undefined {
  return cookie.includes('jwt') ? cookieWithout(cookie, ofToken) : cookie
}

/** Also while login sets another one: a browser may still have it. */
const ofToken: ReadonlySet<string> = new Set(['jwt', '__Host-jwt', '__Secure-jwt'])

const ofConsole: ReadonlySet<string> = new Set(Object.values(consoleCookies))

/** Browsers send cookies to every port of a host; no service gets a session of the console. */
export function cookieWithoutConsole(cookie: string): string | undefined {
  return cookie.includes(consoleCookies.plain) ? cookieWithout(cookie, ofConsole) : cookie
}

/** A Cookie header without cookies of these names. */
export function cookieWithout(cookie: string, names: ReadonlySet<string>): string | undefined {
  const pairs = cookie.split(';').filter((pair) => !names.has(nameOf(pair).trim()))
  const rest = pairs.join(';').trimStart()
  return rest === '' ? undefined : rest
}

const scheme = 'bearer '

/** With any other scheme it is not our token, so the next carrier decides. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) return undefined
  const token = authorization.slice(scheme.length).trimEnd()
  return token === '' ? undefined : token
}

function queryTokens(query: string): string[] {
  if (!mayNameToken(query)) return []
  return query
    .split('&')
    .filter(isTokenParameter)
    .map((parameter) => decodeOnce(parameter.slice(parameter.indexOf('=') + 1)))
    .filter((token) => token !== '')
}

function isTokenParameter(parameter: string): boolean {
  return parameter.includes('=') && decodeOnce(nameOf(parameter)) === 'token'
}

/** Query parsers read `t%6fken` as `token`, so any escape needs the full check. */
function mayNameToken(query: string): boolean {
  return query.includes('token=') || query.includes('%')
}

/**
 * Only hosts that browsers let do so can set a cookie with a prefix, and anyone below the domain `jwt`. So
 * that one counts only for programs, which send no Fetch metadata.
 */
function tokenCookies({ cookies, fetchSite }: Received['headers'], name: string): string[] {
  const own = cookieTokens(cookies, [name])
  return own.length > 0 || fetchSite !== undefined ? own : cookieTokens(cookies, ['jwt'])
}

function cookieTokens(cookies: readonly string[], names: readonly string[]): string[] {
  return cookies
    .filter((cookie) => cookie.includes('jwt'))
    .flatMap((cookie) => cookie.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => names.includes(nameOf(pair)) && pair.includes('='))
    .map((pair) => decodeOnce(pair.slice(pair.indexOf('=') + 1)))
    .filter((token) => token !== '')
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=')
  return equals === -1 ? pair : pair.slice(0, equals)
}

/** With two tokens in one carrier, we could check one and an upstream could use the other. */
function only(tokens: readonly string[], reason: string): string | undefined {
  if (tokens.length > 1) throw new Refusal('token-invalid', { reason })
  return tokens[0]
}

function decodeOnce(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** The value of a cookie that the browser sent once: a second one may be of a sibling host. */
export function readCookie(received: Received, name: string): string | undefined {
  const found = readCookies(received, name)
  return found.length === 1 ? found[0] : undefined
}

/** The values of every cookie with this name, in the order of the request. */
export function readCookies({ headers }: Received, name: string): string[] {
  return headers.cookies
    .flatMap((cookie) => cookie.split(';'))
    .filter((pair) => nameOf(pair).trim() === name)
    .map((pair) => pair.slice(pair.indexOf('=') + 1).trim())
}
