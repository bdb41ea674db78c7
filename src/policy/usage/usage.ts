/** How often something was counted, and when last, in milliseconds since the epoch and to the minute. */
export interface Counted {
  readonly count: number
  readonly last: number
}

/** What a role was refused. */
export interface RefusedCall {
  readonly roleKey: string
  /** Casbin's domain; kept only with `path`. */
  readonly domain?: string
  readonly method: string
  /** With `:id` in place of what looks like an identifier; absent where only the route was kept. */
  readonly path?: string
  /** The path of the configured route; absent when no route matches. Stored only without `path`. */
  readonly route?: string
}

/** An hour in which a gateway counted, and a revision that it decided by. */
export interface ObservedHour {
  /** `2026-11-16`, in UTC. */
  readonly day: string
  readonly hour: number
  readonly revision: string
  readonly decisions: number
}

/** What gateways counted over some days. */
export interface Usage {
  /** By the key of the rule, the exclusion or the superuser clause that decided. */
  readonly decisions: ReadonlyMap<string, Counted>
  /** By the role key of tokens that a gateway accepted. */
  readonly roles: ReadonlyMap<string, Counted>
  readonly refusals: readonly (RefusedCall & Counted)[]
  /** Counted only as a number, because the limit of memory or storage was reached. */
  readonly others: Readonly<Record<CountedKind, number>>
  /** Oldest first. */
  readonly observed: readonly ObservedHour[]
}

/** What is counted by name. */
export type CountedKind = 'decision' | 'role' | 'refusal'

/** How many days counts are kept. */
export const KEPT_DAYS = 90

/** The milliseconds of a day. */
export const DAY_MS = 86_400_000

/** The day of a moment, in UTC. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** The last `count` days, oldest first, today included. */
export function lastDays(count: number, now: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => dayOf(now - (count - 1 - at) * DAY_MS))
}
