import type { Decision } from '../policy/decide.ts'
import { boundedKey, kept } from './kept-text.ts'
import type { DecisionRecord } from './record.ts'

/** A record that could be asked again. */
export interface AskedRecord extends DecisionRecord {
  readonly roleKey: string
  readonly path: string
}

/** What a replay keeps at most, whatever the logs contain. */
interface ChangeLimits {
  readonly groups: number
  /** For each group. */
  readonly users: number
  /** Of all groups together. */
  readonly texts: number
}

const defaultLimits: ChangeLimits = { groups: 5000, users: 20_000, texts: 200_000 }
const maxNames = 100

/** Groups the calls that change by the lines that decide them, in bounded memory. */
export function createChanges(limits: ChangeLimits = defaultLimits) {
  // Engines share their decisions, so the object is the key.
  const groups = new Map<Decision, Map<string, Group>>()
  const all: Group[] = []
  const unlisted = { deny: 0, allow: 0 }
  const budget: Budget = { left: limits.texts }

  function groupOf(record: AskedRecord, decision: Decision): Group | undefined {
    const byRecord = groups.get(decision)
    const key = boundedKey(keyOf(record))
    const known = byRecord?.get(key)
    if (known !== undefined) return known
    if (all.length >= limits.groups) return undefined
    const group = createGroup(record, decision, { limits, budget })
    all.push(group)
    if (byRecord === undefined) groups.set(decision, new Map([[kept(key), group]]))
    else byRecord.set(kept(key), group)
    return group
  }

  return {
    add(record: AskedRecord, decision: Decision) {
      const group = groupOf(record, decision)
      if (group === undefined) unlisted[decision.allowed ? 'allow' : 'deny']++
      else addTo(group, record)
    },
    /** Denials first, then by the number of calls. */
    result: () => ({ changes: all.toSorted(byImpact).map(changeOf), unlisted }),
  }
}

type Group = ReturnType<typeof createGroup>

/** The number of a line says something only together with the revision. */
function keyOf({ step, rule, revision }: DecisionRecord): string {
  return rule === undefined ? step : `${step} ${rule.line} ${revision} ${rule.file}`
}

function createGroup(
  record: AskedRecord,
  decision: Decision,
  { limits, budget }: { readonly limits: ChangeLimits; readonly budget: Budget },
) {
  const { step, rule, requestId, at, userId, roleKey, host, domain, method, path } = record
  return {
    decision,
    before: { step: kept(step), rule: rule && { file: kept(rule.file), line: rule.line } },
    example: {
      requestId: kept(requestId),
      at: kept(at),
      userId: kept(userId),
      roleKey: kept(roleKey),
      host: kept(host),
      ...(domain !== undefined && { domain: kept(domain) }),
      method: kept(method),
      path: kept(path),
    },
    users: createDistinct(limits.users, budget),
    roles: createDistinct(maxNames, budget),
    methods: createDistinct(maxNames, budget),
    revisions: createDistinct(maxNames, budget),
    calls: 0,
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
  }
}

function addTo(group: Group, { userId, roleKey, method, revision, at }: AskedRecord): void {
  group.calls++
  if (userId !== undefined) group.users.add(userId)
  group.roles.add(roleKey)
  group.methods.add(method)
  if (revision !== undefined) group.revisions.add(revision)
  const time = at === undefined ? Number.NaN : Date.parse(at)
  if (time < group.first) group.first = time
  if (time > group.last) group.last = time
}

function byImpact(a: Group, b: Group): number {
  return Number(a.decision.allowed) - Number(b.decision.allowed) || b.calls - a.calls
}

/** One line decided these calls then, and one would now. */
function changeOf(group: Group) {
  const { decision, before, calls, example, first, last } = group
  const { allowed, revision: _, ...now } = decision
  return {
    result: allowed ? ('allow' as const) : ('deny' as const),
    calls,
    users: group.users.result(),
    roles: group.roles.result(),
    methods: group.methods.result(),
    first: timeOf(first),
    last: timeOf(last),
    example,
    before: { ...before, revisions: group.revisions.result() },
    now,
  }
}

function timeOf(ms: number): string | undefined {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : undefined
}

/** What all counters of a replay may keep together. */
interface Budget {
  left: number
}

const maxSome = 5

/** Counts different texts exactly, as long as its own limit and the common budget allow. */
function createDistinct(limit: number, budget: Budget) {
  const seen = new Set<string>()
  const some: string[] = []
  let isExact = true
  return {
    add(text: string) {
      const key = boundedKey(text)
      if (seen.has(key)) return
      // The first one is always kept: a change without a role says little.
      if (seen.size >= limit || (budget.left === 0 && seen.size > 0)) {
        isExact = false
        return
      }
      if (budget.left > 0) budget.left--
      seen.add(kept(key))
      if (some.length < maxSome) some.push(kept(text))
    },
    result: () => ({ count: seen.size, isExact, some }),
  }
}
