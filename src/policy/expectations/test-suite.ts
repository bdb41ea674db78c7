import type { Decision, Question } from '../engine/decision.ts'
import { placeOf } from '../review/finding.ts'
import { formatUntil } from '../rule/until.ts'
import type { Tick } from '../steps.ts'

/** One line of a test file: what must be answered to one question. */
export interface Expectation {
  /** Absent: a caller without a token. */
  readonly role?: string
  /** Casbin's domain. */
  readonly domain?: string
  readonly method: string
  /** Canonical. */
  readonly path: string
  /** Absent: a host that no route names. */
  readonly host?: string
  readonly expect: 'allow' | 'deny'
  /** The step that has to decide, if the author cares. */
  readonly step?: Answer['step']
  /** The time that the question is about, in milliseconds; absent: now. */
  readonly time?: number
  /** Shown with a failure. */
  readonly reason?: string
  /** The author knows that no rule names the role. */
  readonly withoutRules: boolean
  readonly at: { readonly file: string; readonly line: number; readonly column: number }
}

/** What the gateway decides: by the policy, or before the permission check. */
export interface Answer extends Pick<Decision, 'allowed' | 'rule' | 'exclusion' | 'revision'> {
  readonly step: (typeof answerSteps)[number]
  /** No route serves the path: a caller with permission gets 404. */
  readonly isUnserved?: boolean
}

/** What can decide. The last three come before the permission check. */
export const answerSteps = [
  'admin',
  'exclusion',
  'superuser',
  'rule',
  'none',
  'route',
  'endpoint',
  'refused',
] as const

/** What came of an expectation. */
export interface Outcome {
  readonly expectation: Expectation
  readonly decision: Answer
  readonly passed: boolean
}

/** What a test asks; without a role key, for a caller without a token. */
export type TestQuestion = Omit<Question, 'roleKey'> &
  Partial<Pick<Question, 'roleKey'>> &
  Pick<Expectation, 'time'>

/** Runs the expectations in order. `ask` is the code that decides in the gateway. */
export function runExpectations(
  expectations: readonly Expectation[],
  ask: (question: TestQuestion) => Answer,
  tick: Tick = () => {},
): readonly Outcome[] {
  return expectations.map((expectation, index) => {
    if (index % 1000 === 0) tick(index, expectations.length)
    const { role, domain, method, path, host, expect, step, time } = expectation
    const decision = ask({
      ...(role !== undefined && { roleKey: role }),
      ...(domain !== undefined && { domain }),
      method,
      path,
      ...(host !== undefined && { host }),
      ...(time !== undefined && { time }),
    })
    const asExpected = (decision.allowed ? 'allow' : 'deny') === expect
    return {
      expectation,
      decision,
      passed: asExpected && (step ?? decision.step) === decision.step,
    }
  })
}

const withoutToken = '(no token)'

/** `deny viewer PUT /api/v1/orders/7`. */
export function describeExpectation({ expectation }: Outcome): string {
  const { expect, role = withoutToken, method, path, host = '' } = expectation
  return `${expect} ${role} ${method} ${host}${path}${whenAndWhere(expectation)}`
}

/** What was expected, what was decided instead, and by what. */
export function describeFailure({ expectation, decision }: Outcome): string {
  const { expect, role = withoutToken, method, path, host = '', step, reason } = expectation
  const wanted = step === undefined ? expect : `${expect} by ${step}`
  const { rule, exclusion } = decision
  const by = rule ?? exclusion
  const said = rule?.fields?.join(', ') ?? `${by?.method} ${by?.path}`
  const place = by === undefined ? '' : ` (${placeOf(by.origin)}: ${said})`
  const verdict = `${decision.allowed ? 'allow' : 'deny'} by ${decision.step}${place}`
  const why = reason === undefined ? '' : `; ${reason}`
  return `${role} ${method} ${host}${path}${whenAndWhere(expectation)}: expected ${wanted}, got ${verdict}${why}`
}

function whenAndWhere({ domain, time }: Expectation): string {
  const where = domain === undefined ? '' : ` in ${domain}`
  return time === undefined ? where : `${where} at ${formatUntil(time)}`
}
