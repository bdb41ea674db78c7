import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import { Refusal } from '../../kernel/errors.ts'
import { unidentified } from '../../metrics/from-zero.ts'
import type { Decision } from '../../policy/decide.ts'
import type { Origin } from '../../policy/rule/rule.ts'
import type { Admit } from '../pipeline.ts'
import type { Grounds, Received } from '../stages.ts'
import { createShowing, type Showing } from './showing.ts'

interface DecisionRecordParts {
  readonly userId: Showing
  readonly path: Showing
  /** Equal on every replica, so that hashes can be compared; `undefined` without a signing key. */
  readonly digestKey: () => string | undefined
  /** Identifies the gateway. */
  readonly labels: { readonly pod: string; readonly version: string }
  /** Seconds since the epoch. */
  readonly now: () => number
}

/**
 * Wraps `admit` and records each decision, including a failed identification, which is a denial.
 * Requests refused earlier (an ambiguous path, a limit) and faults are not decisions. A record contains
 * neither token nor query.
 */
export function recordedAdmit(
  admit: Admit,
  describe: DescribeDecision,
  write: (record: object) => void,
): Admit {
  const record = (received: Received, came: unknown) => {
    const described = describe(received, came)
    if (described !== undefined) write(described)
  }
  // Turns a throw into a rejection.
  const admitAsync = async (...given: Parameters<Admit>) => admit(...given)
  return (received, stages) =>
    admitAsync(received, stages).then(
      (authorized) => {
        record(received, authorized.grounds)
        return authorized
      },
      (error: unknown) => {
        record(received, error)
        throw error
      },
    )
}

/** `undefined` for what is not a decision. */
type DescribeDecision = ReturnType<typeof createDescription>
export type DecisionRecord = NonNullable<ReturnType<DescribeDecision>>

/** Describes a decision from the request and from what `admit` returned or threw. */
export function createDescription({ userId, path, digestKey, labels, now }: DecisionRecordParts) {
  const showUserId = createShowing(userId, 'user', digestKey)
  const showPath = createShowing(path, 'path', digestKey)

  return ({ arrival: { notes }, call, requestId }: Received, came: unknown) => {
    const verdict = notes.decision === undefined ? withoutPolicy(came) : byPolicy(notes.decision)
    if (verdict === undefined) return undefined
    const { caller, kind, trace, contract, decidingMs } = notes
    return {
      decision_id: randomUUID(),
      timestamp: new Date(now() * 1000).toISOString(),
      request_id: requestId,
      trace_id: trace?.traceId,
      span_id: trace?.spanId,
      revision: notes.decision?.revision,
      subject: caller && {
        user_id: showUserId(caller.userId),
        role_key: caller.roleKey,
        kind: kind === 'user' ? undefined : kind,
      },
      contract,
      host: call.host,
      domain: notes.domain,
      method: call.method,
      path: showPath(notes.decidedPath ?? call.path),
      ...verdict,
      // The shadow policy was asked about the path of the request only.
      shadow: notes.shadow && !notes.decidedPath ? inShadow(notes.shadow) : undefined,
      duration_us: decidingMs === undefined ? undefined : Math.round(decidingMs * 10_000) / 10,
      labels,
    }
  }
}

interface Verdict {
  readonly result: 'allow' | 'deny'
  readonly reason: string
  readonly step: Decision['step'] | 'identity' | 'route'
  readonly rule?: Origin
}

const policyReasons = {
  admin: 'admin-role',
  exclusion: 'excluded',
  superuser: 'superuser-clause',
  rule: 'rule-allows',
  none: 'no-rule',
} as const satisfies Record<Decision['step'], string>

function byPolicy(decision: Decision): Verdict {
  const { allowed, step } = decision
  const reason = step === 'rule' && !allowed ? 'rule-denies' : policyReasons[step]
  return { result: resultOf(decision), reason, step, ...ruleOf(decision) }
}

function inShadow(decision: Decision) {
  return { revision: decision.revision, result: resultOf(decision), ...ruleOf(decision) }
}

function resultOf({ allowed }: Decision): Verdict['result'] {
  return allowed ? 'allow' : 'deny'
}

function ruleOf({ rule, exclusion }: Decision): Pick<Verdict, 'rule'> {
  const origin = (rule ?? exclusion)?.origin
  // Only the name: published files have no directory, and every source should record the same text.
  return origin === undefined ? {} : { rule: { file: basename(origin.file), line: origin.line } }
}

function withoutPolicy(came: Grounds | unknown): Verdict | undefined {
  if (came === 'authenticated-route' || came === 'public-route') {
    return { result: 'allow', reason: came, step: 'route' }
  }
  if (!(came instanceof Refusal) || !unidentified.includes(came.kind)) return undefined
  return { result: 'deny', reason: came.kind, step: 'identity' }
}
