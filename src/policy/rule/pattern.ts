import { canonicalPath, everyAllowance } from './canonical-path.ts'
import { METHODS, quote } from './rule.ts'

/** Which of casbin's functions compare a path with a pattern; with neither, only `==` does. */
export interface PathMatch {
  readonly keyMatch: boolean
  readonly keyMatch2: boolean
}

/**
 * What is wrong with a path pattern under a model's way of comparing paths, or `undefined`.
 *
 * A pattern is a canonical path whose segments are literal or `:name` (one segment, not empty), and
 * which may end in `/*` (that slash and whatever follows) or in `text*` (any path that starts so).
 *
 * Where this is stricter than casbin, which makes a regular expression of the text:
 * - `.` is a dot, and `:` inside a segment is a colon: neither matches anything else;
 * - `text*` is a prefix, not also "the last character any number of times";
 * - regular expression characters, `*` before the end, and `:` without a name are refused;
 * - what the model would compare literally against its author's intention is refused as well:
 *   `:name` without keyMatch2, `*` with neither function, `text*` without keyMatch.
 */
export function patternProblem(pattern: string, match: PathMatch): string | undefined {
  if (!pattern.startsWith('/')) {
    return `path ${quote(pattern)} must start with "/"${slashHint(pattern)}`
  }
  if (pattern.length > longestPattern) {
    return `path pattern has ${pattern.length} characters; at most ${longestPattern} are allowed`
  }
  return (
    meaningProblem(pattern, match) ?? wildcardProblem(pattern, match) ?? spellingProblem(pattern)
  )
}

function slashHint(pattern: string): string {
  if (pattern === '*') return '; to match every path, write "/*"'
  if (METHODS.includes(pattern))
    return ' and comes before the method: write "p, role, path, method"'
  const [, path] = /^[a-z]+:\/\/[^/]*(\/.*)?$/i.exec(pattern) ?? []
  if (path !== undefined) return `: write ${quote(path)}, without scheme and host`
  return `: write ${quote(`/${pattern.replace(/^\.?\/+/, '')}`)}`
}

/** Longer than any endpoint, and short enough for recursive code. */
const longestPattern = 1024

/** Special characters of regular expressions, some of which RFC 3986 allows in a path. */
const regexCharacters = /[()[\]{}^$|\\?+]/

function meaningProblem(pattern: string, match: PathMatch): string | undefined {
  const found = regexCharacters.exec(pattern)?.[0]
  if (found === '{' || found === '}') {
    return `${quote(found)} is not allowed in a path pattern: write a parameter as ":id"`
  }
  if (found !== undefined || pattern.includes('.*')) {
    return `${quote(found ?? '.*')} is not allowed in a path pattern, which is not a regular expression: use ":id", or "*" at the end`
  }
  // Runs for each of a million paths: most of them need no list of segments.
  for (let at = pattern.indexOf('/:'); at !== -1; at = pattern.indexOf('/:', at + 1)) {
    const end = pattern.indexOf('/', at + 1)
    const segment = pattern.slice(at + 1, end === -1 ? pattern.length : end)
    if (!/^:[A-Za-z0-9_-]+$/.test(segment)) {
      return `${quote(segment)} is not a valid parameter: write ":name" (letters, digits, "_", "-") as the whole segment`
    }
    if (!match.keyMatch2) {
      return `${quote(segment)} would match literally: the matcher does not call keyMatch2()`
    }
  }
  return undefined
}

function wildcardProblem(pattern: string, match: PathMatch): string | undefined {
  const star = pattern.indexOf('*')
  if (star === -1) return undefined
  if (star !== pattern.length - 1) {
    return `"*" is only allowed at the end: Casbin ignores everything after the first one`
  }
  if (!match.keyMatch && !match.keyMatch2) {
    return `"*" would match literally: the matcher calls neither keyMatch() nor keyMatch2()`
  }
  if (pattern.endsWith('/*')) return undefined
  if (!match.keyMatch) return `"*" must follow "/": only keyMatch() supports "text*"`
  // keyMatch takes the prefix literally, and keyMatch2 takes the star for a repetition.
  if (pattern.includes('/:')) return `"text*" cannot be combined with a parameter: end with "/*"`
  return undefined
}

function spellingProblem(pattern: string): string | undefined {
  const prefix = pattern.endsWith('*') ? pattern.slice(0, -1) : pattern
  // A path cannot end with an encoded slash, but the part before the star can.
  const sample = prefix !== pattern && prefix.endsWith('%2F') ? `${prefix}x` : prefix
  // A route may allow these in paths, so rules must be able to contain them.
  const canonical = canonicalPath(sample, everyAllowance)
  if (canonical === undefined) {
    return `path ${quote(pattern)} can never match: request paths have no empty or dot segments, "#", control characters or non-ASCII characters, raw or percent-encoded`
  }
  if (canonical !== sample) {
    return `path ${quote(pattern)} can never match: write ${quote(canonical)}, as request paths do`
  }
  return undefined
}
