import { canonicalPath, everyAllowance } from './canonical-path.ts'
import { quote } from './rule.ts'

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
    const all = pattern === '*' ? ': for every path write "/*"' : ''
    return `path ${quote(pattern)} must start with "/"${all}`
  }
  if (pattern.length > longestPattern) {
    return `path pattern is ${pattern.length} characters long, more than the ${longestPattern} allowed`
  }
  return (
    meaningProblem(pattern, match) ?? wildcardProblem(pattern, match) ?? spellingProblem(pattern)
  )
}

/** Longer than any endpoint, and short enough that nothing which walks a pattern runs out of stack. */
const longestPattern = 1024

/** What has a meaning in a regular expression although RFC 3986 lets some of it stand in a path. */
const regexCharacters = /[()[\]{}^$|\\?+]/

function meaningProblem(pattern: string, match: PathMatch): string | undefined {
  const found = regexCharacters.exec(pattern)?.[0]
  if (found === '{' || found === '}') {
    return `${quote(found)} has no meaning in a path pattern: write a parameter as ":id"`
  }
  if (found !== undefined || pattern.includes('.*')) {
    return `${quote(found ?? '.*')} is not allowed: patterns are no regular expressions, use ":id" or a "*" at the end`
  }
  for (const segment of pattern.split('/')) {
    if (!segment.startsWith(':')) continue
    if (!/^:[A-Za-z0-9_-]+$/.test(segment)) {
      return `${quote(segment)} is no parameter: after ":" comes a name of letters, digits, "_" or "-", and nothing else in that segment`
    }
    if (!match.keyMatch2) {
      return `${quote(segment)} would be compared literally: the model has no keyMatch2`
    }
  }
  return undefined
}

function wildcardProblem(pattern: string, match: PathMatch): string | undefined {
  const star = pattern.indexOf('*')
  if (star === -1) return undefined
  if (star !== pattern.length - 1) {
    return `"*" may stand only at the end: casbin ignores what follows the first one`
  }
  if (!match.keyMatch && !match.keyMatch2) {
    return `"*" would be compared literally: the model has neither keyMatch nor keyMatch2`
  }
  if (pattern.endsWith('/*')) return undefined
  if (!match.keyMatch) return `"*" must follow a "/": only keyMatch knows "text*"`
  // keyMatch takes the prefix literally, keyMatch2 takes the star for a repetition: no sense left.
  if (pattern.includes('/:')) return `"text*" cannot be combined with a parameter: end with "/*"`
  return undefined
}

function spellingProblem(pattern: string): string | undefined {
  const prefix = pattern.endsWith('*') ? pattern.slice(0, -1) : pattern
  // No path ends with an encoded slash, but the part before the star may.
  const sample = prefix !== pattern && prefix.endsWith('%2F') ? `${prefix}x` : prefix
  // A route may allow these, and its rules must then be able to spell them.
  const canonical = canonicalPath(sample, everyAllowance)
  if (canonical === undefined) {
    return `path ${quote(pattern)} can never match: no request path has empty or dot segments, "#", control or non-ASCII characters, or their escapes`
  }
  if (canonical !== sample) {
    return `path ${quote(pattern)} can never match: request paths spell it ${quote(canonical)}`
  }
  return undefined
}
