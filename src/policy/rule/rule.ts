/** Where something stands in the files that the security team writes. */
export interface Origin {
  readonly file: string
  readonly line: number
}

/** What a matching rule does. */
export type Effect = 'allow' | 'deny'

/** One `p` line: this role may (or may not) call this path pattern with this method. */
export interface Rule {
  readonly roleKey: string
  readonly path: string
  readonly method: string
  readonly effect: Effect
  readonly origin: Origin
  /**
   * Only under a model that casbin answers: all columns, in the order of the model. Role, path and
   * method are then those columns that have the name of a field of the request, or empty.
   */
  readonly fields?: readonly string[]
}

/** One `g` line: what `parentKey` may do, `roleKey` may do too. */
export interface Inheritance {
  readonly roleKey: string
  readonly parentKey: string
  readonly origin: Origin
  /** Only under a model that casbin answers: `g2` and so on, when it is not `g`. */
  readonly relation?: string
  /** Only under a model that casbin answers: the domain in which it holds, if the model has them. */
  readonly domain?: string
}

/** One entry of the permission exclusion list: any caller with a valid token may make this call. */
export interface Exclusion {
  readonly method: string
  readonly path: string
  readonly reason: string
  readonly origin: Origin
}

/** The methods that a rule or an exclusion may name: RFC 9110 section 9, and PATCH (RFC 5789). */
export const METHODS: readonly string[] = Object.freeze([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
  'TRACE',
])

/** In the method column of a rule: whatever method the request has. */
export const ANY_METHOD = '*'

/** What to do about a method that is none of `METHODS`, or `undefined` when it is one. */
export function methodProblem(method: string): string | undefined {
  if (METHODS.includes(method)) return undefined
  if (METHODS.includes(method.toUpperCase())) {
    return `method ${quote(method)} never matches: methods are case-sensitive, write ${method.toUpperCase()}`
  }
  return `unknown method ${quote(method)}: write one of ${METHODS.join(', ')}`
}

/** What is wrong with a role key or another name in a line, or `undefined`. */
export function nameProblem(what: string, text: string): string | undefined {
  // What a reviewer cannot see must not make two names out of one.
  if (/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text)) {
    return `${what} ${quote(text)} contains control or invisible characters: remove them`
  }
  // Casbin joins fields until brackets balance, and would read other columns than we do.
  if (text.split('(').length !== text.split(')').length) {
    return `${what} ${quote(text)} has unbalanced parentheses`
  }
  return undefined
}

/** A piece of someone's text, short and on one line, as it may stand in a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text)
}
