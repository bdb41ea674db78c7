import { routeLabel } from '../../admission/route-label.ts'
import { pathOf } from '../../admission/target.ts'
import type { Admission, Verdict } from '../../admission/verdict.ts'
import type { NearMiss } from '../../policy/engine/decision.ts'
import { dated } from './dated.ts'
import type { QueryCaller } from './query-caller.ts'
import { lineOf } from './rule-line.ts'
import { ambiguityOf, isTokenProblem, refusalOf, routeOf, stepOf } from './verdict-words.ts'

/** A verdict with everything that helps to understand it. */
export interface Explanation {
  readonly caller: QueryCaller
  readonly method: string
  /** The target as the user wrote it. */
  readonly target: string
  readonly verdict: Verdict
  readonly admission: Admission
  /** The policy that was asked; absent when none decides. */
  readonly policy?: { readonly name: string; readonly words: string; readonly revision: string }
  readonly nearMisses: readonly NearMiss[]
  readonly notes: readonly string[]
}

export function documentOf(explanation: Explanation) {
  const { caller, method, verdict, policy, nearMisses, notes } = explanation
  const { decision, refusal, route, endpoint, ...rest } = verdict
  return dated({
    ...decision,
    ...rest,
    roleKey: caller.roleKey ?? null,
    method,
    path: pathIn(explanation),
    ...(refusal !== undefined && { refusal, refused: whyRefused(explanation) }),
    ...caller.facts,
    route: route === undefined ? null : routeLabel(route),
    access: route?.access ?? null,
    upstream: endpoint?.upstream ?? route?.upstream ?? null,
    isFixedResponse: route?.respond !== undefined,
    endpoint: endpoint?.name ?? null,
    nearMisses,
    notes,
    policy: policy?.name ?? null,
    revision: policy?.revision ?? null,
  })
}

/** What the text shows besides: the caller, and what decides, as rows of a table. */
export interface ExplainExtras {
  /** The subject of a sentence. */
  readonly name: string
  readonly rows: readonly (readonly string[])[]
}

export function shownOf(explanation: Explanation): ExplainExtras {
  const { name, rows } = explanation.caller
  const [path, raw] = [pathIn(explanation), pathOf(explanation.target)]
  const given = path === raw ? [] : [['path', `${path} (given: ${raw})`]]
  return { name, rows: [...rows, ...given, ...decisionRows(explanation)] }
}

/** The canonical path, or the one that was given when it has none. */
function pathIn({ verdict, target }: Explanation): string {
  return verdict.path ?? pathOf(target)
}

function whyRefused({ verdict, caller, method, target, admission }: Explanation): string {
  const { refusal = 'token-missing', endpoint } = verdict
  if (isTokenProblem(refusal) && caller.roleKey === undefined && caller.why !== undefined) {
    return `the gateway answers code 401: ${caller.why}`
  }
  const ambiguity =
    refusal === 'ambiguous-path' ? ambiguityOf(method, target, admission) : undefined
  return ambiguity ?? refusalOf(refusal, endpoint)
}

function decisionRows({ verdict, admission, policy }: Explanation): readonly string[][] {
  const { refusal } = verdict
  const route = admission.areRoutesKnown ? [['route', routeOf(verdict)]] : []
  // What is refused to everyone has no route worth a line.
  if (refusal !== undefined) return isTokenProblem(refusal) ? route : []
  const { rule, exclusion } = verdict.decision ?? {}
  return [
    ...route,
    ['step', stepOf(verdict)],
    ...(rule === undefined ? [] : [['rule', lineOf(rule)]]),
    ...(exclusion === undefined ? [] : [['entry', lineOf(exclusion)]]),
    ...(exclusion === undefined ? [] : [['reason', exclusion.reason]]),
    ...(policy === undefined ? [] : [['policy', policy.words]]),
  ]
}
