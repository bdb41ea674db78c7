import { UntracedError } from '../kernel/untraced-error.ts'
import type { Field } from './hpack/decoder.ts'

/**
 * The header section of a request. `scheme` and `path` are empty for CONNECT, `host` is what both
 * `:authority` and Host name. `headers` are name, value, name, value … without pseudo-headers and Host,
 * with all cookies in one field.
 */
export type RequestFields = ReturnType<typeof readRequest>

/** The header section of a response. */
export interface ResponseFields {
  readonly status: number
  readonly headers: string[]
  readonly contentLength: number | undefined
}

/** A message that breaks a rule of RFC 9113 8: only its own stream ends. */
export class MalformedMessage extends UntracedError {
  constructor(message: string) {
    super(message)
    this.name = 'MalformedMessage'
  }
}

/** RFC 9113 8.2.2: they belong to a connection of HTTP/1.1, and their presence is an attack or a bug. */
export const connectionSpecific: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/** RFC 9110 6.5.1: they say how a message is read, or where it goes, so they come before it. */
const framing = new Set(['content-length', 'host', 'te'])

const methodForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** RFC 9113 8.3.1: an absolute path, never a whole URL, which HTTP/1.1 would take for another host. */
const pathForm = /^\/[\x21-\x7e\x80-\xff]*$/
/** No user, path or query. Whether it is a host is for its reader to check, as with Host. */
const authorityForm = /^[\x21-\x7e\x80-\xff]*$/
const unfitForAuthority = /[@/?#\\]/
const lengthForm = /^\d{1,15}$/

/** Throws MalformedMessage. */
export function readRequest(fields: readonly Field[]) {
  const headers: string[] = []
  const seen: Seen = { contentLength: undefined, host: undefined, cookieAt: -1 }
  let method: string | undefined
  let scheme: string | undefined
  let authority: string | undefined
  let path: string | undefined
  for (const field of fields) {
    const { name } = field
    if (!isPseudo(name)) {
      takeRequestHeader(headers, field, seen)
      continue
    }
    const isLate = headers.length > 0 || seen.host !== undefined
    if (name === ':method') method = once(method, field, isLate)
    else if (name === ':scheme') scheme = once(scheme, field, isLate)
    else if (name === ':authority') authority = once(authority, field, isLate)
    else if (name === ':path') path = once(path, field, isLate)
    else throw new MalformedMessage(field.problem ?? 'unknown pseudo-header')
  }
  if (method === undefined || !methodForm.test(method)) throw new MalformedMessage('no method')
  if (authority !== undefined && seen.host !== undefined && !isSameHost(authority, seen.host)) {
    throw new MalformedMessage(':authority and Host differ')
  }
  if (authority !== undefined && !isAuthority(authority)) {
    throw new MalformedMessage('invalid :authority')
  }
  const host = authority ?? seen.host
  const contentLength = seen.contentLength
  if (method === 'CONNECT') {
    if (scheme !== undefined || path !== undefined || authority === undefined) {
      throw new MalformedMessage('malformed CONNECT')
    }
    return { method, scheme: '', path: '', host, headers, contentLength }
  }
  if (scheme !== 'http' && scheme !== 'https') throw new MalformedMessage('invalid :scheme')
  if (path === undefined || !isPath(path, method)) throw new MalformedMessage('invalid :path')
  return { method, scheme, path, host, headers, contentLength }
}

/** Throws MalformedMessage. */
export function readResponse(fields: readonly Field[]): ResponseFields {
  const headers: string[] = []
  const seen: Seen = { contentLength: undefined, host: undefined, cookieAt: -1 }
  let status: string | undefined
  for (const field of fields) {
    if (!isPseudo(field.name)) takeHeader(headers, field, seen)
    else if (field.name === ':status') status = once(status, field, headers.length > 0)
    else throw new MalformedMessage(field.problem ?? 'unknown pseudo-header')
  }
  if (status === undefined || !/^[1-9]\d\d$/.test(status)) {
    throw new MalformedMessage('invalid :status')
  }
  return { status: Number(status), headers, contentLength: seen.contentLength }
}

/** Name, value, name, value … Throws MalformedMessage. */
export function readTrailers(fields: readonly Field[]): string[] {
  const trailers: string[] = []
  for (const { name, value, problem } of fields) {
    if (problem !== undefined) throw new MalformedMessage(problem)
    if (isPseudo(name)) throw new MalformedMessage('pseudo-header in a trailer')
    if (connectionSpecific.has(name) || framing.has(name)) {
      throw new MalformedMessage(`${name} in a trailer`)
    }
    trailers.push(name, value)
  }
  return trailers
}

function isPath(path: string, method: string): boolean {
  return pathForm.test(path) || (path === '*' && method === 'OPTIONS')
}

function isAuthority(authority: string): boolean {
  return authorityForm.test(authority) && !unfitForAuthority.test(authority)
}

function isSameHost(one: string, other: string): boolean {
  return one === other || one.toLowerCase() === other.toLowerCase()
}

function isPseudo(name: string): boolean {
  return name.charCodeAt(0) === 0x3a
}

/** The value of a pseudo-header, of which there must be one, before all headers. */
function once(
  before: string | undefined,
  { name, value, problem }: Field,
  isLate: boolean,
): string {
  if (problem !== undefined) throw new MalformedMessage(problem)
  if (before !== undefined) throw new MalformedMessage(`two ${name} pseudo-headers`)
  if (isLate) throw new MalformedMessage('pseudo-header after a header')
  return value
}

interface Seen {
  contentLength: number | undefined
  host: string | undefined
  /** Where the value of the Cookie field is. */
  cookieAt: number
}

function takeRequestHeader(headers: string[], field: Field, seen: Seen): void {
  const { name, value, problem } = field
  if (problem === undefined && name === 'host') {
    if (seen.host !== undefined) throw new MalformedMessage('two Host headers')
    seen.host = value
  } else if (problem === undefined && name === 'cookie' && seen.cookieAt !== -1) {
    // RFC 9113 8.2.3: a client may split it, which HTTP/1.1 does not know.
    headers[seen.cookieAt] += `; ${value}`
  } else {
    takeHeader(headers, field, seen)
    if (name === 'cookie') seen.cookieAt = headers.length - 1
  }
}

function takeHeader(headers: string[], { name, value, problem }: Field, seen: Seen): void {
  if (problem !== undefined) throw new MalformedMessage(problem)
  if (name === 'content-length') {
    if (seen.contentLength !== undefined || !lengthForm.test(value)) {
      throw new MalformedMessage('invalid Content-Length')
    }
    seen.contentLength = Number(value)
  } else if (name === 'te') {
    if (value !== 'trailers') throw new MalformedMessage('TE may only be "trailers"')
  } else if (connectionSpecific.has(name)) {
    throw new MalformedMessage(`${name} is not for HTTP/2`)
  }
  headers.push(name, value)
}
