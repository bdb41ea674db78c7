/** Where something stands in the files that the security team writes. */
export interface Origin {
  readonly file: string
  readonly line: number
}

export type Effect = 'allow' | 'deny'

/** One `p` line: this role may (or may not) call this path pattern with this method. */
export interface Rule {
  readonly roleKey: string
  readonly path: string
  readonly method: string
  readonly effect: Effect
  readonly origin: Origin
}

/** One `g` line: what `parentKey` may do, `roleKey` may do too. */
export interface Inheritance {
  readonly roleKey: string
  readonly parentKey: string
  readonly origin: Origin
}

/** One entry of the permission exclusion list: any caller with a valid token may make this call. */
export interface Exclusion {
  readonly method: string
  readonly path: string
  readonly reason: string
  readonly origin: Origin
}
