import type { OwnEndpoint } from '../../admission/own-endpoints.ts'
import { routeLabel } from '../../admission/route-label.ts'
import { answererOf } from '../../admission/routes.ts'
import { pathOf } from '../../admission/target.ts'
import type { Admission, CallRefusal, TokenProblem, Verdict } from '../../admission/verdict.ts'

export { answererOf, routeLabel }

export const tokenProblems: Readonly<Record<TokenProblem, string>> = {
  'token-missing': 'the request has no token',
  'token-invalid': 'the token is not valid',
  'token-expired': 'the token has expired',
  'token-too-long-lived': 'the lifetime of the token is too long',
  'token-revoked': 'the token is revoked',
}

const refusals: Readonly<Record<Exclude<CallRefusal, TokenProblem>, string>> = {
  'unknown-method': '400: its parser does not know this method',
  'ambiguous-path': '400: two parsers could read this path differently',
  'target-too-long': '414: path and query together exceed limits.targetBytes',
  'bad-request': '400: the host has no canonical form',
  'no-such-host': '404 to every caller: no route and not application.hosts names this host',
  'no-such-endpoint': '404 to every caller: this endpoint is blocked',
  'method-not-allowed': '405: this method is not allowed here',
}

/** Why the gateway refuses a request, with its answer. */
export function refusalOf(refusal: CallRefusal, endpoint: OwnEndpoint | undefined): string {
  const isOwn = refusal === 'method-not-allowed' && endpoint !== undefined
  if (isOwn) return `the gateway answers 405: its own endpoint allows ${endpoint.allow} only`
  return isTokenProblem(refusal)
    ? `the gateway answers code 401: ${tokenProblems[refusal]}`
    : `the gateway answers ${refusals[refusal]}`
}

export function isTokenProblem(refusal: CallRefusal): refusal is TokenProblem {
  return Object.hasOwn(tokenProblems, refusal)
}

/** The part of a target that makes it ambiguous, where that is not the path itself. */
export function ambiguityOf(
  method: string,
  target: string,
  { readPath }: Admission,
): string | undefined {
  const path = pathOf(target)
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(target)) {
    return 'the gateway answers 400: give the path alone, without scheme and host'
  }
  if (!path.startsWith('/')) return 'the gateway answers 400: a path starts with "/"'
  if (readPath(path, method) !== undefined || /[^\x21-\x7e]/.test(path)) {
    return 'the gateway answers 400: percent-encode "#", spaces and non-ASCII characters'
  }
  return undefined
}

/** The route or endpoint, with its access and its upstream. */
export function routeOf({ allowed, route, endpoint, isUnserved }: Verdict): string {
  const then = allowed ? 'the answer is' : 'with permission, the answer is'
  if (isUnserved) return `none: no route matches this path; ${then} 404`
  if (endpoint?.name === 'wrong-method') {
    return `endpoint of the gateway, which allows ${endpoint.allow} only; ${then} 405`
  }
  if (endpoint !== undefined) {
    const by = endpoint.upstream === undefined ? 'the gateway' : `upstream ${endpoint.upstream}`
    return `endpoint ${endpoint.name}, answered by ${by}`
  }
  const elsewhere = 'none: for forward-auth only, the public port answers 404'
  if (route === undefined) return elsewhere
  const by = answererOf(route) ?? `upstream ${elsewhere}`
  return `${routeLabel(route)} (access ${route.access}, ${by})`
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

/** What decided. */
export function stepOf({ step, need, decision }: Verdict): string {
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
