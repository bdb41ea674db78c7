import { routeLabel } from '../../admission/route-label.ts'
import { pathOf } from '../../admission/target.ts'
import type { Admission, Verdict } from '../../admission/verdict.ts'
import { lineOf } from '../../operations/policy/rule-line.ts'
import {
  ambiguityOf,
  isTokenProblem,
  refusalOf,
  routeOf,
  stepOf,
} from '../../operations/policy/verdict-words.ts'
import type { NearMiss } from '../../policy/engine/decision.ts'
import { count, formatTable, printable } from '../format.ts'
import type { AskedCaller } from './asked-caller.ts'

/** A verdict with everything that helps to understand it. */
export interface Explanation {
  readonly caller: AskedCaller
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

export function asJson(explanation: Explanation) {
  const { caller, method, verdict, policy, nearMisses, notes } = explanation
  const { decision, refusal, route, endpoint, ...rest } = verdict
  return {
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
  }
}

export function formatExplanation(explanation: Explanation): string {
  const { caller, method, target, verdict, nearMisses } = explanation
  const { allowed, refusal } = verdict
  const path = pathIn(explanation)
  const title =
    refusal === undefined
      ? `${allowed ? 'allowed' : 'denied'}: ${caller.name} ${allowed ? 'may' : 'may not'} ${method} ${path}`
      : `refused: ${whyRefused(explanation)}`
  const raw = pathOf(target)
  const rows = [
    ...caller.rows,
    ...(path === raw ? [] : [['path', `${path} (given: ${raw})`]]),
    ...decisionRows(explanation),
  ]
  const misses = nearMisses.map(({ differs, rule }) => [lineOf(rule), missWords[differs]])
  return [
    `${printable(title)}\n`,
    formatTable(rows, '  '),
    misses.length === 0
      ? ''
      : `${count(misses.length, 'rule nearly matches', 'rules nearly match')}:\n`,
    formatTable(misses, '  '),
  ].join('')
}

const missWords = {
  method: 'differs in method',
  role: 'differs in role',
  domain: 'counts in another domain',
  inheritance: 'inherited in another domain only',
  expired: 'has expired',
} as const

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
