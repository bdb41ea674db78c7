import type { OwnEndpoint } from '../../admission/own-endpoints.ts'
import {
  type Admission,
  type CallRefusal,
  evaluate,
  type Verdict,
} from '../../admission/verdict.ts'
import { compile } from '../../policy/engine/compile.ts'
import type { CompiledPolicies, NearMiss, Question } from '../../policy/engine/decision.ts'
import { explain } from '../../policy/explain.ts'
import { methodProblem } from '../../policy/rule/rule.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, formatTable, json, printable } from '../format.ts'
import { readVersion } from '../policy/versions.ts'
import { policySettings } from '../settings.ts'
import { lineOf } from './rule-line.ts'
import type { explainSpec } from './specs.ts'

/** Shows whether a role may make a call, and why. */
export const policyExplain: Run<typeof explainSpec> = async (call, io) => {
  const {
    options,
    arguments: [roleKey, method, target],
  } = call
  const settings = policySettings(options.config, io)
  const { admission, note } = settings.admission()
  const version = await readVersion(options.policies ?? settings.directory, settings, io)
  const policies = compile(version.set)
  const [raw = ''] = target.split('?', 1)
  const verdict = evaluate({ roleKey, method, path: raw }, admission, policies)
  const question = { roleKey, method, path: verdict.path ?? raw }
  const nearMisses = verdict.decision === undefined ? [] : explain(question, policies).nearMisses
  const notes = [methodProblem(method), note].filter((each) => each !== undefined)

  if (options.output === 'json') {
    io.out(json(asJson(verdict, { question, nearMisses, notes, revision: policies.revision })))
  } else {
    io.out(formatExplanation(verdict, { question, raw, nearMisses, admission, policies }))
    for (const each of notes) io.err(`note: ${printable(each)}\n`)
  }
  return verdict.allowed ? exitCodes.done : exitCodes.no
}

function asJson(
  { decision, refusal, route, endpoint, ...verdict }: Verdict,
  {
    question,
    ...more
  }: {
    readonly question: Question
    readonly nearMisses: readonly NearMiss[]
    readonly notes: readonly string[]
    readonly revision: string
  },
) {
  return {
    ...decision,
    ...verdict,
    ...question,
    ...(refusal !== undefined && { refusal, refused: refusalOf(refusal, endpoint) }),
    route: route?.path ?? null,
    access: route?.access ?? null,
    upstream: endpoint?.upstream ?? route?.upstream ?? null,
    endpoint: endpoint?.name ?? null,
    ...more,
  }
}

const steps = {
  admin: 'admin: this role bypasses the policy',
  exclusion: 'exclusion: every authenticated caller may make this call',
  superuser: 'superuser',
  rule: 'rule',
  none: 'none: no rule allows it',
  endpoint: 'endpoint: the gateway answers this path itself, before the policy is evaluated',
  refused: 'refused: before the policy is evaluated',
} as const

const refusals = {
  'unknown-method': 'the gateway answers 400: its parser does not know this method',
  'ambiguous-path': 'the gateway answers 400: two parsers could read this path differently',
  'target-too-long': 'the gateway answers 414: the path and query exceed limits.targetBytes',
  'no-such-endpoint': 'the gateway answers 404 to every caller: this endpoint is blocked',
  'method-not-allowed': 'the gateway answers 405: this method is not allowed here',
  'token-missing': 'the gateway answers code 401: the request has no token',
  'token-invalid': 'the gateway answers code 401: the token is not valid',
  'token-expired': 'the gateway answers code 401: the token has expired',
  'token-too-long-lived': 'the gateway answers code 401: the lifetime of the token is too long',
  'token-revoked': 'the gateway answers code 401: the token is revoked',
} as const

interface Explanation {
  readonly question: Question
  /** The path as the user wrote it. */
  readonly raw: string
  readonly nearMisses: readonly NearMiss[]
  readonly admission: Admission
  readonly policies: CompiledPolicies
}

function formatExplanation(verdict: Verdict, explanation: Explanation): string {
  const { allowed, refusal, endpoint } = verdict
  const { question, raw, nearMisses } = explanation
  const { roleKey, method, path } = question
  const title =
    refusal === undefined
      ? `${allowed ? 'allowed' : 'denied'}: ${roleKey} ${allowed ? 'may' : 'may not'} ${method} ${path}`
      : `refused: ${refusalOf(refusal, endpoint)}`
  const rows = [
    ...(path === raw ? [] : [['path', `${path} (given: ${raw})`]]),
    ...(refusal === undefined ? decisionRows(verdict, explanation) : []),
  ]
  const misses = nearMisses.map(({ differs, rule }) => [
    lineOf(rule),
    differs === 'method' ? 'differs in method' : 'differs in role',
  ])
  return [
    `${printable(title)}\n`,
    formatTable(rows, '  '),
    misses.length === 0
      ? ''
      : `${count(misses.length, 'rule nearly matches', 'rules nearly match')}:\n`,
    formatTable(misses, '  '),
  ].join('')
}

function decisionRows(verdict: Verdict, { admission, policies }: Explanation): string[][] {
  const { rule, exclusion } = verdict.decision ?? {}
  return [
    ...(admission.areRoutesKnown ? [['route', routeOf(verdict)]] : []),
    ['step', stepOf(verdict)],
    ...(rule === undefined ? [] : [['rule', lineOf(rule)]]),
    ...(exclusion === undefined ? [] : [['entry', lineOf(exclusion)]]),
    ...(exclusion === undefined ? [] : [['reason', exclusion.reason]]),
    ['revision', policies.revision],
  ]
}

export function refusalOf(refusal: CallRefusal, endpoint: OwnEndpoint | undefined): string {
  if (refusal !== 'method-not-allowed' || endpoint === undefined) return refusals[refusal]
  return `the gateway answers 405: its own endpoint allows ${endpoint.allow} only`
}

function routeOf({ allowed, route, endpoint, isUnserved }: Verdict): string {
  const then = allowed ? 'the answer is' : 'with permission, the answer is'
  if (isUnserved) return `none: no route matches this path; ${then} 404`
  if (endpoint?.name === 'wrong-method') {
    return `endpoint of the gateway, which allows ${endpoint.allow} only; ${then} 405`
  }
  if (endpoint !== undefined) {
    return `endpoint ${endpoint.name}, answered by ${endpoint.upstream === undefined ? 'the gateway' : `upstream ${endpoint.upstream}`}`
  }
  const to = route?.upstream === undefined ? '' : `, upstream ${route.upstream}`
  return `${route?.path} (access ${route?.access}${to})`
}

function stepOf({ step, need, decision }: Verdict): string {
  if (decision?.clause !== undefined) return clauseOf(decision.clause, step)
  if (step !== 'route') return steps[step]
  const who = need === 'nothing' ? 'every caller' : 'every authenticated caller'
  return `route: allows ${who}; the policy is not evaluated`
}

function clauseOf(clause: string, step: Verdict['step']): string {
  return step === 'superuser'
    ? `superuser: ${clause} in the matcher of model.conf allows this role every call`
    : `rule: ${clause} in the matcher of model.conf makes every rule match this role, and a deny rule is one of them`
}
