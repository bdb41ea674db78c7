/** What a path may contain although servers interpret it differently; by default nothing. */
export interface Allowance {
  /** `%2F`, as part of a segment. */
  readonly encodedSlash: boolean
  /** `;`, as part of a segment; its escape stays refused, so that it has one spelling. */
  readonly semicolon: boolean
  /** `%25`. What a second round of decoding would make of it must be canonical too. */
  readonly encodedPercent?: boolean
  /** `%23`, although a server that decodes before it parses takes it for a fragment. */
  readonly encodedHash?: boolean
  /** `%3F`, although a server that decodes before it parses takes it for a query. */
  readonly encodedQuestionMark?: boolean
}

export const everyAllowance: Allowance = {
  encodedSlash: true,
  semicolon: true,
  encodedPercent: true,
  encodedHash: true,
  encodedQuestionMark: true,
}
const noAllowance: Allowance = { encodedSlash: false, semicolon: false }

/**
 * The only definition of "the path". Routing, decision, log and wire all use what this returns, so
 * a request cannot be one path to the policy and another to the upstream.
 *
 * A canonical path starts with a slash, has no empty and no dot segment, and spells each character in
 * one way: what RFC 3986 allows in a segment (pchar) is literal, the rest is percent-encoded with
 * upper-case digits and is valid UTF-8. What two parsers could read differently is refused
 * (`undefined`), not repaired.
 *
 * With an allowance it may have `%2F`, `;`, `%25`, `%23` or `%3F` within a segment. A server that decodes
 * them, once or twice, or cuts off what follows still finds neither a dot segment nor an empty one.
 */
export function canonicalPath(raw: string, allowed = noAllowance): string | undefined {
  if (raw.charCodeAt(0) !== slash) return undefined

  let out = ''
  let copied = 0 // raw before this index is already in out
  let characters = 0 // of the segment so far
  let dots = 0 // of the segment so far
  let decoded = false // whether the segment so far began with an encoded slash
  let hasPercent = false // whether the path so far has an encoded percent sign

  for (let at = 1; at < raw.length; at++) {
    const code = raw.charCodeAt(at)
    const kind = code < 128 ? kinds[code] : refused

    if (kind === plain) {
      characters++
      if (code === dot) dots++
    } else if (code === slash) {
      // One parser merges an empty segment or resolves a dot segment, the next one does not.
      if (characters === 0 || isDotSegment(characters, dots)) return undefined
      characters = 0
      dots = 0
      decoded = false
    } else if (kind === encoded) {
      out += raw.slice(copied, at) + percentEncoded(code)
      copied = at + 1
      characters++
    } else if (code === semicolon && allowed.semicolon) {
      if (characters === 0 || isDotSegment(characters, dots)) return undefined
      characters++
    } else if (allowed.encodedSlash && escapedByte(raw, at) === slash) {
      if (characters === 0 || isDotSegment(characters, dots)) return undefined
      out += `${raw.slice(copied, at)}%2F`
      at += 2
      copied = at + 1
      characters = 0
      dots = 0
      decoded = true
    } else if (code === percent && isAllowedEscape(escapedByte(raw, at), allowed)) {
      const byte = escapedByte(raw, at)
      if (byte === percent) hasPercent = true
      else if (isDotSegment(characters, dots)) return undefined
      out += raw.slice(copied, at) + percentEncoded(byte)
      at += 2
      copied = at + 1
      characters++
    } else if (code === percent) {
      const length = escapeLength(raw, at)
      if (length === 0) return undefined
      const spelling = spellEscape(raw, at, length)
      out += raw.slice(copied, at) + spelling
      at += length - 1
      copied = at + 1
      characters++
      if (spelling === '.') dots++
    } else {
      return undefined
    }
  }

  if (isDotSegment(characters, dots) || (decoded && characters === 0)) return undefined
  const path = copied === 0 ? raw : out + raw.slice(copied)
  return hasPercent && decodedTwice(path, allowed) === undefined ? undefined : path
}

/**
 * What a server that decodes twice reads in a canonical path, in canonical form, or `undefined` if that
 * is ambiguous or would change in a third round.
 */
export function decodedTwice(path: string, allowed = everyAllowance): string | undefined {
  if (/%25u[\dA-F]{4}/i.test(path)) return undefined // %uXXXX, as IIS decodes it
  const once = path.replace(escapedEscape, '%')
  if (once === path) return path
  const read = canonicalPath(once, allowed)
  return read === undefined || read.search(escapedEscape) !== -1 ? undefined : read
}

/** The `%25` of `%25XX`: decoded once, it begins an escape. Any other is a plain percent sign. */
const escapedEscape = /%25(?=[\dA-F]{2})/gi

function isAllowedEscape(byte: number, allowed: Allowance): boolean {
  switch (byte) {
    case percent:
      return allowed.encodedPercent === true
    case hash:
      return allowed.encodedHash === true
    case questionMark:
      return allowed.encodedQuestionMark === true
    default:
      return false
  }
}

const slash = 0x2f
const dot = 0x2e
const percent = 0x25
const semicolon = 0x3b
const hash = 0x23
const questionMark = 0x3f

const refused = 0
const plain = 1
const encoded = 2

/**
 * How each ASCII character is spelled in a path. Left at `refused`: controls, space, DEL, and the
 * characters that some servers take for a separator or a delimiter although they are none here
 * (`\` a slash, `;` the start of parameters that are cut off, `#` a fragment, `?`, `%`).
 */
const kinds = new Uint8Array(128)
for (const character of "-._~!$&'()*+,=:@") kinds[character.charCodeAt(0)] = plain
for (let code = 0x30; code <= 0x39; code++) kinds[code] = plain
for (let code = 0x41; code <= 0x5a; code++) kinds[code] = plain
for (let code = 0x61; code <= 0x7a; code++) kinds[code] = plain
for (const character of '"<>[]^`{|}') kinds[character.charCodeAt(0)] = encoded

/** A request line cannot contain a raw space, but its escape has only one reading. */
const spaceCode = 0x20
/** Form decoders read `+` as a space, so `+` and `%2B` are two texts, not two spellings of one. */
const plusCode = 0x2b

function isDotSegment(characters: number, dots: number): boolean {
  return dots === characters && (dots === 1 || dots === 2)
}

function percentEncoded(code: number): string {
  return `%${code < 16 ? '0' : ''}${code.toString(16).toUpperCase()}`
}

/** How many characters the escape sequence of one code point takes at `at`; 0 when it is refused. */
function escapeLength(raw: string, at: number): number {
  const lead = escapedByte(raw, at)
  if (lead < 0x80) return isSpellable(lead) ? 3 : 0

  const bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
  // RFC 3629: no overlong forms (C0, C1 and the ranges below), no surrogates, nothing past 10FFFF.
  if (lead < 0xc2 || lead > 0xf4) return 0
  for (let index = 1; index < bytes; index++) {
    const byte = escapedByte(raw, at + index * 3)
    if (byte < 0x80 || byte > 0xbf) return 0
    if (index === 1 && !isAllowedSecondByte(lead, byte)) return 0
  }
  return bytes * 3
}

function isAllowedSecondByte(lead: number, byte: number): boolean {
  switch (lead) {
    case 0xc2:
      return byte >= 0xa0 // below are the C1 controls
    case 0xe0:
      return byte >= 0xa0
    case 0xed:
      return byte <= 0x9f
    case 0xf0:
      return byte >= 0x90
    case 0xf4:
      return byte <= 0x8f
    default:
      return true
  }
}

function isSpellable(byte: number): boolean {
  return byte === spaceCode || (byte >= 0 && kinds[byte] !== refused)
}

/** The one spelling of an escape that `escapeLength` accepted. */
function spellEscape(raw: string, at: number, length: number): string {
  const byte = escapedByte(raw, at)
  if (length === 3 && kinds[byte] === plain && byte !== plusCode) return String.fromCharCode(byte)
  return raw.slice(at, at + length).toUpperCase()
}

/** The byte that `%XX` at `at` stands for, or -1. */
function escapedByte(raw: string, at: number): number {
  if (raw.charCodeAt(at) !== percent) return -1
  const high = hexDigit(raw.charCodeAt(at + 1))
  const low = hexDigit(raw.charCodeAt(at + 2))
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  if (code >= 0x41 && code <= 0x46) return code - 0x37
  if (code >= 0x61 && code <= 0x66) return code - 0x57
  return -1
}
