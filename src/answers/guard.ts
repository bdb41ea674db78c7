import type { AccessRoute } from '../admission/routes.ts'
import type { Problem } from '../kernel/errors.ts'
import { compileAt } from '../policy/engine/compile.ts'
import type { Expectation } from '../policy/expectations/test-suite.ts'
import { ruleViolations, type Violation } from '../policy/guardrails.ts'
import { placeOf } from '../policy/review/finding.ts'
import { methodBits } from '../policy/review/grants.ts'
import { type PatternShape, shapeOf, treeOf, visitCovering } from '../policy/review/pattern-tree.ts'
import { ANY_METHOD } from '../policy/rule/rule.ts'
import type { GuardedCalls, Guardrail } from '../policy/set/guardrails.ts'
import type { PolicySet } from '../policy/set/policy-set.ts'
import { createCallCases } from './call-cases.ts'
import type { Scope } from './query-scope.ts'
import { untestedRoutes } from './untested.ts'

/** What guardrails are held against: a policy, its tests and the routes of a gateway. */
interface Guarded {
  readonly set: PolicySet
  readonly admission: Scope['admission']
  readonly expectations: readonly Expectation[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/**
 * Every way in which a policy, with the routes of this gateway, breaks its guardrails, in the order of
 * the file. Decided for all calls, not for examples.
 */
export function guardrailViolations(guarded: Guarded): readonly Violation[] {
  const { set, now } = guarded
  const { guardrails = [] } = set
  if (guardrails.length === 0) return []
  const isCasbin = set.model.casbin !== undefined
  const byRules = Map.groupBy(ruleViolations(set, now), ({ guardrail }) => guardrail)
  const openCalls = createOpenCalls(guarded)
  return guardrails.flatMap((guardrail) => [
    ...(isCasbin && isAboutRoles(guardrail) ? [{ guardrail, message: undecidable }] : []),
    ...beyondRules(guardrail, openCalls, guarded),
    ...(byRules.get(guardrail) ?? []),
  ])
}

/** The violations as errors of the policy, at the places of the guardrails. */
export function guardrailProblems(guarded: Guarded): readonly Problem[] {
  return guardrailViolations(guarded).map(({ guardrail, message }) => {
    return { ...guardrail.origin, message: `breaks "${guardrail.text}": ${message}` }
  })
}

const undecidable =
  'cannot be decided: Casbin evaluates the model, and only its matcher knows what a rule allows'

function isAboutRoles({ kind }: Guardrail): boolean {
  return kind === 'only' || kind === 'never-both'
}

/** What exclusions, routes and tests do. */
function beyondRules(
  guardrail: Guardrail,
  openCalls: OpenCalls,
  guarded: Guarded,
): readonly Violation[] {
  switch (guardrail.kind) {
    case 'only':
      return openCalls(guardrail.calls, guardrail)
    case 'never-both':
      return guardrail.pair.flatMap((calls) => openCalls(calls, guardrail))
    case 'public-at-most':
      return publicRoutes(guardrail.list, guardrail, guarded.admission.routes)
    case 'route-tests':
      return routesWithoutTest(guardrail, guarded)
    case 'grant-days':
      return []
  }
}

type OpenCalls = (calls: GuardedCalls, guardrail: Guardrail) => readonly Violation[]

/** Finds calls that need no permission, by a route or an exclusion: then rules do not count. */
function createOpenCalls({ set, admission, now }: Guarded): OpenCalls {
  const withoutRules = { ...set, rules: [], inheritances: [] }
  const policies = compileAt(withoutRules, now)
  // A route may be public for one host only.
  const hosts = new Set(admission.routes.flatMap((route) => route.hosts ?? []))
  const everyCase = [admission, ...Array.from(hosts, (host) => onHost(admission, host, hosts))].map(
    (each) => createCallCases({ admission: each, policies }),
  )
  return ({ text, methods, path }, guardrail) => {
    const wanted = bitsOf(methods)
    const found = new Map<string, Violation>()
    for (const cases of everyCase) {
      // Every method, because routes and clients have more than rules can name.
      const areAll = cases({ method: ANY_METHOD, path }, (call) => {
        const { kind, verdict } = call.standing
        const { exclusion } = verdict.decision ?? {}
        // Login, profile and the other endpoints of Postern itself reach no service.
        const isOwn = verdict.endpoint !== undefined || exclusion?.origin.line === 0
        if (kind !== 'open' || isOwn || (methodBits(call.method) & wanted) === 0) return
        const caller = verdict.need === 'nothing' ? 'everyone' : 'every caller with a token'
        const by =
          exclusion === undefined ? `the route ${verdict.route?.path}` : placeOf(exclusion.origin)
        const message = `${caller} may ${call.method} ${call.path} by ${by}`
        const proof = { method: call.method, path: call.path }
        if (!found.has(by)) found.set(by, { guardrail, message, proof })
      })
      // Under Casbin it is undecidable already.
      if (areAll || set.model.casbin !== undefined) continue
      const message = `every caller may be allowed ${text}: too many exclusions and routes to decide`
      found.set('', { guardrail, message })
    }
    return [...found.values()]
  }
}

/** The configuration of the gateway for questions about one host; a wildcard gets an example host. */
function onHost(
  admission: Scope['admission'],
  host: string,
  hosts: ReadonlySet<string>,
): Scope['admission'] {
  let assumedHost = host.replace(/^\*/, 'x')
  while (host.startsWith('*') && hosts.has(assumedHost)) assumedHost = `x${assumedHost}`
  return { ...admission, assumedHost }
}

function publicRoutes(
  list: readonly GuardedCalls[],
  guardrail: Guardrail,
  routes: readonly AccessRoute[],
): readonly Violation[] {
  const root = treeOf(list, ({ path }) => path)
  const isListed = (shape: PatternShape, methods: readonly string[]) => {
    let listed = 0
    visitCovering(root, shape, (calls) => {
      for (const { methods: each } of calls) listed |= bitsOf(each)
    })
    return (bitsOf(methods) & ~listed) === 0
  }
  return routes.flatMap((route): readonly Violation[] => {
    const { access, path, methods = [ANY_METHOD] } = route
    if (access !== 'public' || isListed(shapeOfRoute(route), methods)) return []
    return [{ guardrail, message: `the route ${path} is public: ${methods.join(', ')} ${path}` }]
  })
}

function bitsOf(methods: readonly string[]): number {
  return methods.reduce((sum, method) => sum | methodBits(method), 0)
}

/** Everything below a prefix; a list with it means the prefix itself too. */
function shapeOfRoute({ path, match }: AccessRoute): PatternShape {
  if (match !== 'exact') return shapeOf(path === '/' ? '/*' : `${path}/*`)
  return { segments: path.split('/').slice(1), tail: 'end', prefix: '' }
}

function routesWithoutTest(guardrail: Guardrail, guarded: Guarded): readonly Violation[] {
  return untestedRoutes(guarded).map(({ path, hosts = [] }) => {
    return { guardrail, message: `no test is about the route ${hosts.join(',')}${path}` }
  })
}
