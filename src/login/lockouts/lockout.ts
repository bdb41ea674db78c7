/** What is locked out: an account, an account at an address, an address, or captchas of an address. */
export type LockoutKind = 'account' | 'pair' | 'address' | 'captcha'

/** Whom a lock-out refuses. */
export interface LockedOut {
  readonly kind: LockoutKind
  /** The name as typed, which may be a password. */
  readonly name?: string
  /** The address, or the network of an IPv6 address. */
  readonly block?: string
  /** Whether only requests that pages of other sites cause are refused. */
  readonly foreign?: boolean
}

/** A lock-out that starts now. */
export interface BegunLockout extends LockedOut {
  /** The key of its count. */
  readonly key: string
  readonly lockoutMs: number
  /** How many counted attempts led to it, those before earlier lock-outs in a row included. */
  readonly attempts: number
}

/** What a store keeps about a lock-out. `sealed` has the rest, readable with the signing keys only. */
export interface LockoutRecord {
  readonly key: string
  readonly kind: LockoutKind
  readonly sealed: string
  readonly leftMs: number
}

/** A record of a lock-out that is open, by the clock of its store. */
export interface StoredLockout extends Omit<LockoutRecord, 'kind' | 'leftMs'> {
  readonly kind: string
  readonly sinceMs: number
  readonly untilMs: number
}

/** Where gateways keep records of open lock-outs, for operators. */
export interface LockoutRecords {
  add(records: readonly LockoutRecord[]): Promise<void>
  /**
   * The keys whose lock-outs an operator has ended, for counts in the memory of this process; calls
   * `forget` for each. Absent where the store has the counts too.
   */
  takeCleared?(forget: (key: string) => void): Promise<void>
  /** Removes the records of this process, whose counts end with it. */
  leave?(): Promise<void>
}
