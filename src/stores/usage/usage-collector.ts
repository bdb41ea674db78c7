import type { Counted, ObservedHour, RefusedCall, Usage } from '../../policy/usage/usage.ts'
import { latestTime } from '../latest-time.ts'
import {
  type EntryKind,
  longestName,
  observedIn,
  otherName,
  refusedIn,
  roleIn,
} from './usage-entry.ts'

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
