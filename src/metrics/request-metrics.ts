import type { Sample } from './counts.ts'
import { createCounts } from './counts.ts'
import {
  callerKinds,
  captchaResults,
  identityResults,
  loginResults,
  permissionResults,
  unidentified,
} from './from-zero.ts'
import type { MetricRegistry } from './registry.ts'

/** A finished request. Every text is from a closed list. */
interface CountedRequest {
  readonly method: string
  readonly status: number
  /** The true outcome, also where the HTTP status is 200. */
  readonly outcome: string
  /** By `performance.now()`, like every time here. */
  readonly startedAt: number
  readonly endedAt: number
  readonly notes: {
    /** The path of the route in the configuration, or the name of an endpoint of ours. */
    readonly route?: string
    readonly carrier?: string
    readonly caller?: unknown
    readonly kind?: string
    /** Absent where the policy was not consulted. */
    readonly decision?: { readonly allowed: boolean; readonly step: string }
    readonly decidingMs?: number
    readonly upstream?: string
    /** When a target was chosen; absent where the request was not forwarded. */
    readonly sentAt?: number
    readonly retries?: number
  }
}

export type RequestMetrics = ReturnType<typeof createRequestMetrics>

/** From a lookup in the index to casbin with thousands of rules. */
const decisionBuckets = [
  1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 1e-3, 5e-3, 2.5e-2, 1e-1,
]

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

const unidentifiedOutcomes: ReadonlySet<string> = new Set(unidentified)

/** Label values known before the first request. */
interface KnownLabels {
  readonly outcomes: readonly string[]
  /** Paths of the routes that have a limit. */
  readonly limitedRoutes: readonly string[]
  readonly upstreams: readonly string[]
}

const requestLabels = ['route', 'method', 'status', 'outcome']

/** Counts requests and the results of their checks. */
export function createRequestMetrics(registry: MetricRegistry, known: KnownLabels) {
  let open = 0
  const counts = createCounts(requestLabels.length)
  const requests = counts.add
  registry.readCounter({
    name: 'postern_requests_total',
    help: 'Finished requests; outcome is the true result also where the HTTP status is 200.',
    labels: requestLabels,
    read: counts.samples,
  })
  // The combinations above are too many to exist from the start; outcomes alone are few.
  registry.readCounter({
    name: 'postern_outcomes_total',
    help: 'Finished requests by outcome; every outcome is present from the start.',
    labels: ['outcome'],
    read: () => byOutcome(known.outcomes, counts.samples()),
  })
  const durations = registry.duration({
    name: 'postern_request_duration_seconds',
    help: 'Time from the end of the request headers to the end of the response.',
    label: 'route',
  })
  const upstreamDurations = registry.duration({
    name: 'postern_upstream_request_duration_seconds',
    help: 'Time from choosing a target to the end of the response, with queueing and retries.',
    label: 'upstream',
  })
  const decisions = registry.duration({
    name: 'postern_authz_duration_seconds',
    help: 'Time a policy decision took.',
    buckets: decisionBuckets,
  })
  const identities = registry.counter({
    name: 'postern_authn_total',
    help: 'Authentication checks, by result and by where the token was sent.',
    labels: ['result', 'carrier'],
    fromZero: identityResults,
  })
  const callers = registry.counter({
    name: 'postern_authenticated_requests_total',
    help: 'Requests of identified callers: people, service accounts, and callers of other issuers.',
    labels: ['kind'],
    fromZero: callerKinds.map((kind) => [kind]),
  })
  const permissions = registry.counter({
    name: 'postern_authz_total',
    help: 'Authorization checks, by result and by the step that decided.',
    labels: ['result', 'step', 'mode'],
    fromZero: permissionResults,
  })
  const logins = registry.counter({
    name: 'postern_login_total',
    help: 'Login attempts, by result.',
    labels: ['result'],
    fromZero: loginResults.map((result) => [result]),
  })
  const captchas = registry.counter({
    name: 'postern_captcha_total',
    help: 'Captcha requests, by result.',
    labels: ['result'],
    fromZero: captchaResults.map((result) => [result]),
  })
  const limited = registry.counter({
    name: 'postern_ratelimit_rejected_total',
    help: 'Requests rejected by a rate limit.',
    labels: ['route'],
    fromZero: known.limitedRoutes.map((route) => [route]),
  })
  const retried = registry.counter({
    name: 'postern_upstream_retries_total',
    help: 'Requests retried on another target.',
    labels: ['upstream'],
    fromZero: known.upstreams.map((upstream) => [upstream]),
  })
  registry.readGauge({
    name: 'postern_open_requests',
    help: 'Requests in flight.',
    aggregate: 'sum',
    read: () => open,
  })
  const own = new Map([
    ['login', logins],
    ['captcha', captchas],
  ])

  return {
    began() {
      open++
    },
    ended({ method, status, outcome, startedAt, endedAt, notes }: CountedRequest) {
      open--
      const { route = 'none', carrier = 'none', decision, sentAt } = notes
      // Clients choose the method; they must not be able to create series.
      requests(route, methods.has(method) ? method : 'other', String(status), outcome)
      durations((endedAt - startedAt) / 1000, route)
      if (notes.caller !== undefined) {
        identities('ok', carrier)
        callers(notes.kind ?? 'user')
      } else if (unidentifiedOutcomes.has(outcome)) identities(outcome, carrier)
      if (decision !== undefined) {
        permissions(decision.allowed ? 'allowed' : 'denied', decision.step, 'enforce')
        if (notes.decidingMs !== undefined) decisions(notes.decidingMs / 1000)
      }
      if (sentAt !== undefined) upstreamDurations((endedAt - sentAt) / 1000, notes.upstream)
      own.get(route)?.(outcome === 'passed' ? 'ok' : outcome)
      if (outcome === 'too-many-requests') limited(route)
      for (let time = notes.retries ?? 0; time > 0; time--) retried(notes.upstream ?? 'none')
    },
    /** Refused because of overload, before anything of it was read. */
    shed: (method: string) =>
      requests('none', methods.has(method) ? method : 'other', '503', 'overloaded'),
  }
}

/** Sums by outcome, with outcomes that have not occurred yet at 0. */
function byOutcome(outcomes: readonly string[], samples: readonly Sample[]): readonly Sample[] {
  const sums = new Map(outcomes.map((outcome) => [outcome, 0]))
  for (const [count, _route, _method, _status, outcome = ''] of samples) {
    sums.set(outcome, (sums.get(outcome) ?? 0) + count)
  }
  return [...sums].map(([outcome, count]) => [count, outcome])
}
