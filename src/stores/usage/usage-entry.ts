import { readJson } from '../../kernel/json.ts'
import type { CountedKind, RefusedCall } from '../../policy/usage/usage.ts'

/** What the stores count: what gateways count, and when they did. */
export type EntryKind = CountedKind | 'observed'

export const entryKinds: readonly EntryKind[] = ['observed', 'decision', 'role', 'refusal']

/** A number to add to what is stored under a kind, a day and a name. */
export interface UsageEntry {
  readonly kind: EntryKind
  readonly name: string
  readonly count: number
  /** The name to use once a day has too many names of the kind; absent: `otherName`. */
  readonly fallback?: string
}

/** A part of what a gateway counted, small enough for one statement. */
export interface UsageBatch {
  /** Unique: a batch whose confirmation was lost is sent again, and counts once. */
  readonly id: string
  readonly day: string
  /** In milliseconds since the epoch. */
  readonly at: number
  readonly entries: readonly UsageEntry[]
}

/** Stands for everything that has no entry of its own, because the day has too many. */
export const otherName = '*'

/**
 * How many names a day may have of each kind, in the store that all gateways share; refusals may have
 * twice as many once they are counted by route. Clients choose paths and perhaps roles.
 */
export const mostNames: Readonly<Record<EntryKind, number>> = {
  observed: 1000,
  decision: 50_000,
  role: 5000,
  refusal: 2000,
}

/** Longer names are not ours. */
export const longestName = 2048

/** The name of a role, or of a refused call. */
export function nameOf(named: string | RefusedCall): string {
  if (typeof named === 'string') return JSON.stringify([named])
  const { roleKey, domain, method, path = null, route = null } = named
  if (path === null) return JSON.stringify([roleKey, method, null, route])
  // Gateways of earlier versions read the first three only.
  return JSON.stringify([roleKey, method, path, ...(domain === undefined ? [] : [null, domain])])
}

/** The role of a name, or `undefined` when the name is invalid. */
export function roleIn(name: string): string | undefined {
  const value = readJson(name)
  return Array.isArray(value) && typeof value[0] === 'string' ? value[0] : undefined
}

/** The refused call of a name, or `undefined` when the name is invalid. */
export function refusedIn(name: string): RefusedCall | undefined {
  const value = readJson(name)
  if (!Array.isArray(value)) return undefined
  const [roleKey, method, path, route, domain] = value as readonly unknown[]
  if (typeof roleKey !== 'string' || typeof method !== 'string') return undefined
  if (typeof path === 'string') {
    return { roleKey, method, path, ...(typeof domain === 'string' && { domain }) }
  }
  return { roleKey, method, ...(typeof route === 'string' && { route }) }
}

/** The name of an hour in which a gateway decided by a revision. */
export function observedName(at: number, revision: string): string {
  return `${new Date(at).getUTCHours()} ${revision}`
}

/** Hour and revision of such a name, or `undefined` when the name is invalid. */
export function observedIn(
  name: string,
): { readonly hour: number; readonly revision: string } | undefined {
  const [, hour, revision] = /^([01]?\d|2[0-3]) (r-[0-9a-f]{12,64})$/.exec(name) ?? []
  return hour === undefined || revision === undefined ? undefined : { hour: Number(hour), revision }
}
