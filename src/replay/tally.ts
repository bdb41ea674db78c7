import { type Decision, decide } from '../policy/decide.ts'
import type { CompiledPolicies } from '../policy/engine/decision.ts'
import { canonicalPath, everyAllowance } from '../policy/rule/canonical-path.ts'
import { type AskedRecord, createChanges } from './changes.ts'
import { kept } from './kept-text.ts'
import type { DecisionRecord } from './record.ts'

/** Why a decision of a policy could not be replayed. */
type Obstacle =
  | 'hashed-path'
  | 'omitted-path'
  | 'ambiguous-path'
  | 'omitted-role'
  | 'omitted-domain'
  | 'unknown-step'
  | 'engine-failed'

const byPolicy = {
  rule: true,
  none: true,
  exclusion: true,
  admin: true,
  superuser: true,
} as const satisfies Record<Decision['step'], true>

/** The steps that a policy decides. */
const policySteps: ReadonlySet<string> = new Set(Object.keys(byPolicy))

const maxRevisions = 100

/** Asks a policy again what gateways decided, and counts the answers. */
export function createTally(policies: CompiledPolicies) {
  const changes = createChanges()
  const revisions = createRevisions()
  const counts = { decisions: 0, asked: 0, unchanged: 0, wouldDeny: 0, wouldAllow: 0 }
  const notAsked = { identity: 0, route: 0 }
  const couldNotAsk: Record<Obstacle, number> = {
    'hashed-path': 0,
    'omitted-path': 0,
    'ambiguous-path': 0,
    'omitted-role': 0,
    'omitted-domain': 0,
    'unknown-step': 0,
    'engine-failed': 0,
  }
  let first: string | undefined
  let last: string | undefined

  function compare(record: AskedRecord, decision: Decision): void {
    counts.asked++
    revisions.add(record.revision)
    if (decision.allowed === (record.result === 'allow')) {
      counts.unchanged++
      return
    }
    counts[decision.allowed ? 'wouldAllow' : 'wouldDeny']++
    changes.add(record, decision)
  }

  /** The gateway that recorded it had a policy without a domain: this one would only deny. */
  function lacksDomain({ domain }: AskedRecord, { step }: Decision): boolean {
    return policies.hasDomain && domain === undefined && step === 'none'
  }

  return {
    take(record: DecisionRecord) {
      counts.decisions++
      const { at, step } = record
      if (at !== undefined) {
        first ??= at
        // Most logs are in order.
        if (last === undefined || at > last) last = at
        else if (at < first) first = at
      }
      if (step === 'identity' || step === 'route') {
        notAsked[step]++
        return
      }
      if (!isAskable(record)) {
        couldNotAsk[obstacleOf(record)]++
        return
      }
      const decision = answer(record, policies)
      if (decision === undefined) couldNotAsk['engine-failed']++
      else if (lacksDomain(record, decision)) couldNotAsk['omitted-domain']++
      else compare(record, decision)
    },
    result: () => ({
      ...counts,
      ...{ notAsked, couldNotAsk, first: kept(first), last: kept(last) },
      ...revisions.result(),
      ...changes.result(),
    }),
  }
}

function isAskable(record: DecisionRecord): record is AskedRecord {
  const { step, roleKey, path } = record
  if (roleKey === undefined || path === undefined) return false
  // A gateway records canonical paths only; a policy has no answer to others.
  return policySteps.has(step) && canonicalPath(path, everyAllowance) === path
}

function obstacleOf({ step, roleKey, path }: DecisionRecord): Obstacle {
  if (!policySteps.has(step)) return 'unknown-step'
  if (path === undefined) return 'omitted-path'
  // The hash is base64url, which has no slash.
  if (!path.startsWith('/')) return 'hashed-path'
  return roleKey === undefined ? 'omitted-role' : 'ambiguous-path'
}

/** `undefined` when the engine fails, as Casbin does on a matcher that throws for this call. */
function answer(question: AskedRecord, policies: CompiledPolicies): Decision | undefined {
  try {
    return decide(question, policies)
  } catch {
    return undefined
  }
}

function createRevisions() {
  const counts = new Map<string, number>()
  let others = 0
  // Most records have the revision of the one before.
  let current: string | undefined
  let run = 0

  function settle(): void {
    if (run === 0) return
    const known = current === undefined ? undefined : counts.get(current)
    if (current === undefined || (known === undefined && counts.size >= maxRevisions)) others += run
    else counts.set(known === undefined ? kept(current) : current, (known ?? 0) + run)
    run = 0
  }

  return {
    add(revision: string | undefined): void {
      if (revision !== current) {
        settle()
        current = revision
      }
      run++
    },
    result() {
      settle()
      const revisions = Array.from(counts, ([revision, decisions]) => ({ revision, decisions }))
      return {
        revisions: revisions.toSorted((a, b) => b.decisions - a.decisions),
        otherRevisions: others,
      }
    },
  }
}
