import type { Decision } from '../policy/decide.ts'
import { type Budget, createDistinct, type Distinct, type DistinctCount } from './distinct.ts'
import { boundedKey, kept } from './kept-text.ts'
import type { DecisionRecord, RecordedRule } from './record.ts'

/** Calls that the policy would decide otherwise: one line decided them then, and one would now. */
export interface Change {
  /** What would become of the calls. */
  readonly result: 'allow' | 'deny'
  readonly calls: number
  /** Of those whose user ID is recorded. */
  readonly users: DistinctCount
  readonly roles: DistinctCount
  readonly methods: DistinctCount
  /** ISO 8601. Unset if no record has a time. */
  readonly first: string | undefined
  readonly last: string | undefined
  /** The first one that was read. */
  readonly example: Example
  readonly before: DecidedBefore
  readonly now: Omit<Decision, 'revision' | 'allowed'>
}

interface Example {
  readonly requestId: string | undefined
  readonly at: string | undefined
  readonly userId: string | undefined
  readonly roleKey: string
  readonly host: string | undefined
  readonly domain?: string
  readonly method: string
  readonly path: string
}

interface DecidedBefore {
  readonly step: string
  /** As recorded: a line of that revision, which has another number in another one. */
  readonly rule: RecordedRule | undefined
  readonly revisions: DistinctCount
}

/** Calls that changed, but had to be left out of the list because it is too long. */
export interface Unlisted {
  readonly deny: number
  readonly allow: number
}

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

interface Group {
  readonly decision: Decision
  readonly before: Pick<DecidedBefore, 'step' | 'rule'>
  readonly example: Example
  readonly users: Distinct
  readonly roles: Distinct
  readonly methods: Distinct
  readonly revisions: Distinct
  calls: number
  first: number
  last: number
}

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

/** The number of a line says something only together with the revision. */
function keyOf({ step, rule, revision }: DecisionRecord): string {
  return rule === undefined ? step : `${step} ${rule.line} ${revision} ${rule.file}`
}

function createGroup(
  record: AskedRecord,
  decision: Decision,
  { limits, budget }: { readonly limits: ChangeLimits; readonly budget: Budget },
): Group {
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

function changeOf(group: Group): Change {
  const { decision, before, calls, example, first, last } = group
  const { allowed, revision: _, ...now } = decision
  return {
    result: allowed ? 'allow' : 'deny',
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
