import { readJson } from '../../kernel/json.ts'
import type {
  Counted,
  CountedKind,
  ObservedHour,
  RefusedCall,
  Usage,
} from '../../policy/usage/usage.ts'
import { latestTime } from '../latest-time.ts'

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
function roleIn(name: string): string | undefined {
  const value = readJson(name)
  return Array.isArray(value) && typeof value[0] === 'string' ? value[0] : undefined
}

/** The refused call of a name, or `undefined` when the name is invalid. */
function refusedIn(name: string): RefusedCall | undefined {
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
function observedIn(
  name: string,
): { readonly hour: number; readonly revision: string } | undefined {
  const [, hour, revision] = /^([01]?\d|2[0-3]) (r-[0-9a-f]{12,64})$/.exec(name) ?? []
  return hour === undefined || revision === undefined ? undefined : { hour: Number(hour), revision }
}

/** Where all gateways add up what they count. Every method throws a Fault when the store fails. */
export interface UsageStore {
  add(batch: UsageBatch): Promise<void>
  /** What is stored of these kinds for these days. */
  read(days: readonly string[], kinds: readonly EntryKind[]): Promise<Usage>
}

/** One stored number. The store may have been written by others, so nothing of it is certain. */
export interface StoredCount extends Counted {
  readonly kind: EntryKind
  readonly day: string
  readonly name: string
}

/** How many names of a kind are read. More than gateways write in a day, and a bound on memory. */
const mostRead = 1_000_000

/** Adds up what is stored for several days. Ignores what no gateway writes. */
export function createUsageCollector() {
  const decisions = new Map<string, Counted>()
  const roles = new Map<string, Counted>()
  const refusals = new Map<string, RefusedCall & Counted>()
  const observed: ObservedHour[] = []
  const others = { decision: 0, role: 0, refusal: 0 }

  function addTo<Named>(sums: Map<string, Named & Counted>, key: string, named: Named & Counted) {
    const known = sums.get(key)
    if (known === undefined && sums.size >= mostRead) return false
    const count = safe((known?.count ?? 0) + named.count)
    sums.set(key, { ...named, count, last: Math.max(known?.last ?? 0, named.last) })
    return true
  }

  return {
    /** Whether the name was taken or ignored; `false` when there are too many. */
    add({ kind, day, name, ...stored }: StoredCount) {
      if (name.length > longestName || !isCount(stored.count) || !isCount(stored.last)) return true
      const count = safe(stored.count)
      const last = Math.min(stored.last, latestTime)
      if (kind === 'observed') {
        const seen = observedIn(name)
        if (seen !== undefined) observed.push({ day, ...seen, decisions: count })
        return observed.length < mostRead
      }
      if (name === otherName) {
        others[kind] = safe(others[kind] + count)
        return true
      }
      if (kind === 'decision') return addTo(decisions, name, { count, last })
      if (kind === 'role') {
        const role = roleIn(name)
        return role === undefined || addTo(roles, role, { count, last })
      }
      const refused = refusedIn(name)
      return refused === undefined || addTo(refusals, name, { ...refused, count, last })
    },
    usage: (): Usage => ({
      decisions,
      roles,
      refusals: [...refusals.values()],
      others,
      observed: observed.toSorted((a, b) => (a.day === b.day ? a.hour - b.hour : order(a, b))),
    }),
  }
}

function order(a: ObservedHour, b: ObservedHour): number {
  return a.day < b.day ? -1 : 1
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0
}

function safe(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER)
}
