/** A place in the policy files. */
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
   * Only under a model that Casbin evaluates, or did in earlier versions: all columns, in the order of
   * the model. With Casbin, role, path and method are the columns with the names of the request
   * fields, or empty.
   */
  readonly fields?: readonly string[]
  /** Only under a model with a domain: the column with the name of the request's domain. */
  readonly domain?: string
  /** The first millisecond at which gateways ignore the line, only ever of one that allows. */
  readonly until?: number
}

/** One `g` line: `roleKey` may do what `parentKey` may do. */
export interface Inheritance {
  readonly roleKey: string
  readonly parentKey: string
  readonly origin: Origin
  /** Only under a model that Casbin evaluates: `g2` and so on, if it is not `g`. */
  readonly relation?: string
  /** Only under a model that Casbin evaluates: the domain, if the model has domains. */
  readonly domain?: string
  /** The first millisecond at which gateways ignore the line. */
  readonly until?: number
}

/** One entry of the permission exclusion list: any caller with a valid token may make this call. */
export interface Exclusion {
  readonly method: string
  readonly path: string
  readonly reason: string
  readonly origin: Origin
  /** The first millisecond at which gateways ignore the entry. */
  readonly until?: number
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

/** In the method column of a rule: every method. */
export const ANY_METHOD = '*'

/** What is wrong with a method, or `undefined`. */
export function methodProblem(method: string): string | undefined {
  if (METHODS.includes(method)) return undefined
  if (METHODS.includes(method.toUpperCase())) {
    return `method ${quote(method)} never matches: methods are case-sensitive, write ${method.toUpperCase()}`
  }
  return `unknown method ${quote(method)}: write one of ${METHODS.join(', ')}`
}

/** What is wrong with a role key or another name in a line, or `undefined`. */
export function nameProblem(what: string, text: string): string | undefined {
  // Two names that look the same to a reviewer must not differ.
  if (/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text)) {
    return `${what} ${quote(text)} contains control or invisible characters: remove them`
  }
  // Casbin joins fields until parentheses balance, and would read different columns.
  if (text.split('(').length !== text.split(')').length) {
    return `${what} ${quote(text)} has unbalanced parentheses`
  }
  return undefined
}

/** Quotes a text for a message: short, and on one line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text)
}
