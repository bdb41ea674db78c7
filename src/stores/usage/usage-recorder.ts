import { randomUUID } from 'node:crypto'
import { setImmediate as pause } from 'node:timers/promises'
import { BoundedQueue } from '../../background/bounded-queue.ts'
import type { FeedLog } from '../../background/feed-log.ts'
import { createOutbox } from '../../background/outbox.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import type { Decision } from '../../policy/engine/decision.ts'
import { type CountedKind, dayOf, type RefusedCall } from '../../policy/usage/usage.ts'
import { usageKey } from '../../policy/usage/usage-key.ts'
import {
  nameOf,
  observedName,
  otherName,
  type UsageBatch,
  type UsageEntry,
  type UsageStore,
} from './usage-entry.ts'

interface Numbered {
  readonly count: number
}

/** What a gateway counted since the last time. */
interface Tallies {
  readonly decisions: ReadonlyMap<Decision, Numbered>
  readonly roles: ReadonlyMap<string, Numbered>
  readonly refusals: ReadonlyMap<string, RefusedCall & Numbered>
  readonly others: Readonly<Record<CountedKind, number>>
}

interface RecorderParts {
  readonly store: Pick<UsageStore, 'add'>
  readonly take: () => Tallies
  /** The revision that decides now; `undefined` before the first. */
  readonly revision: () => string | undefined
  /** In milliseconds since the epoch. */
  readonly now: () => number
  readonly log: FeedLog
}

/** Between half of it and all of it passes between two writes. */
const everyMs = 60_000
/** Entries of one statement: a millisecond or two of Redis, which others wait for. */
const entriesPerBatch = 200
/** Keys computed at once: well under a millisecond. */
const keysPerSlice = 256

/**
 * Stores what a gateway counts, every minute and at the end, beside requests and never before one. While
 * the store fails, the batches that were taken stay here, and the gateway goes on counting in its own
 * bounded memory: an outage loses what exceeds that, and a process that ends during it loses its counts.
 */
export function createUsageRecorder(parts: RecorderParts) {
  const { store, log, now } = parts
  const keys = new WeakMap<Decision, string>()
  // Bounded by what is counted between two deliveries: nothing is taken while batches wait.
  const queue = new BoundedQueue<UsageBatch>({ most: Infinity, drops: 'newest' })
  let uncounted = 0

  async function takeBatches(isLast: boolean): Promise<UsageBatch[]> {
    const taken = parts.take()
    // A day without requests was observed, too; a process that ends without any need not say so.
    if (isLast && taken.decisions.size === 0 && taken.roles.size === 0) return []
    uncounted += taken.others.decision + taken.others.role + taken.others.refusal
    const at = now()
    const entries = [
      ...observedBy(taken, at, parts.revision()),
      ...(await decided(taken.decisions, keys)),
      ...[...taken.roles].map(([role, { count }]) => entry('role', nameOf(role), count)),
      ...[...taken.refusals.values()].map(refusalEntry),
      ...othersOf(taken.others),
    ]
    const id = randomUUID()
    const batches: UsageBatch[] = []
    for (let from = 0; from < entries.length; from += entriesPerBatch) {
      const part = entries.slice(from, from + entriesPerBatch)
      batches.push({ id: `${id}-${batches.length}`, day: dayOf(at), at, entries: part })
    }
    return batches
  }

  const write = () => queue.drain(async ([first]) => first && store.add(first))
  let hasBegun = false
  const outbox = createOutbox({
    async deliver({ isLast }) {
      // The first call only starts the clock: nothing is counted yet.
      const isFirst = !hasBegun
      hasBegun = true
      if (isFirst && !isLast) return 'idle'
      await write()
      for (const batch of await takeBatches(isLast)) queue.add(batch)
      await write()
      return undefined
    },
    everyMs,
    log,
    failed: 'policy usage not stored',
    recovered: 'policy usage stored again',
  })
  outbox.wake()
  return {
    /** Stores what was counted so far, soon. */
    flush: outbox.wake,
    state: () => ({
      /** Writes that failed. */
      failures: outbox.failures(),
      /** What was counted only as a number, because a limit was reached. */
      uncounted,
    }),
    /** Stores what is left, within two seconds. */
    close: () => outbox.close(),
  }
}

function entry(kind: UsageEntry['kind'], name: string, count: number): UsageEntry {
  return { kind, name, count }
}

function observedBy(
  { decisions, others }: Tallies,
  at: number,
  revision: string | undefined,
): readonly UsageEntry[] {
  if (revision === undefined) return []
  let total = others.decision
  for (const { count } of decisions.values()) total += count
  return [entry('observed', observedName(at, revision), total)]
}

async function decided(
  decisions: Tallies['decisions'],
  keys: WeakMap<Decision, string>,
): Promise<readonly UsageEntry[]> {
  const counts = new Map<string, number>()
  let computed = 0
  for (const [decision, { count }] of decisions) {
    let key = keys.get(decision)
    if (key === undefined) {
      // Without a rule, a call is counted as a refusal alone.
      key = usageKey(decision) ?? ''
      keys.set(decision, key)
      if (++computed % keysPerSlice === 0) await pause()
    }
    // Two revisions have a decision each for the rule that they share.
    if (key !== '') counts.set(key, (counts.get(key) ?? 0) + count)
  }
  return [...counts].map(([key, count]) => entry('decision', key, count))
}

function refusalEntry({ count, ...call }: RefusedCall & Numbered): UsageEntry {
  const refused = entry('refusal', nameOf(call), count)
  if (call.path === undefined) return refused
  const { path: _, domain: __, ...coarse } = call
  return { ...refused, fallback: nameOf(coarse) }
}

function othersOf(others: Tallies['others']): readonly UsageEntry[] {
  return (['decision', 'role', 'refusal'] as const)
    .filter((kind) => others[kind] > 0)
    .map((kind) => entry(kind, otherName, others[kind]))
}

/** Shows whether policy usage is stored, and whether all of it is counted by rule. */
export function addUsageMetrics(
  registry: MetricRegistry,
  read: () => { readonly failures: number; readonly uncounted: number },
): void {
  registry.readCounter({
    name: 'postern_policy_usage_write_failures_total',
    help: 'Failed writes of policy usage; they are retried.',
    read: () => read().failures,
  })
  registry.readCounter({
    name: 'postern_policy_usage_uncounted_total',
    help: 'Decisions, roles and refusals counted only as a number, because a limit was reached.',
    read: () => read().uncounted,
  })
}
