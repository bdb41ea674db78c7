import type { Figures } from './registry.ts'

/** What is counted about a request when it has ended. Every text is from a closed list. */
export interface CountedRequest {
  /** The path of the route in the configuration, or the name of an endpoint of ours. */
  readonly route: string | undefined
  readonly method: string
  readonly status: number
  /** The true outcome, also where HTTP says 200. */
  readonly outcome: string
  readonly seconds: number
  readonly carrier: string | undefined
  readonly identified: boolean
  /** What the policy said, if it was asked. */
  readonly decision: { readonly allowed: boolean; readonly step: string } | undefined
  readonly upstream: string | undefined
  /** How often it was sent again, to another target. */
  readonly retries: number
}

export interface RequestMetrics {
  readonly began: () => void
  readonly ended: (request: CountedRequest) => void
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Outcomes that say why a caller is unknown. */
const unidentified = new Set([
  'token-missing',
  'token-invalid',
  'token-expired',
  'token-revoked',
  'cross-site-cookie',
])

/** Counts requests and what their checks came to. */
export function createRequestMetrics(figures: Figures): RequestMetrics {
  let open = 0
  const requests = figures.counter({
    name: 'postern_requests_total',
    help: 'Requests that have ended, with their true outcome where HTTP says 200.',
    labels: ['route', 'method', 'status', 'outcome'],
  })
  const durations = figures.duration({
    name: 'postern_request_duration_seconds',
    help: 'From the end of the request headers to the end of the answer.',
    labels: ['route'],
  })
  const identities = figures.counter({
    name: 'postern_authn_total',
    help: 'Identity checks, by result and by where the token rode.',
    labels: ['result', 'carrier'],
  })
  const permissions = figures.counter({
    name: 'postern_authz_total',
    help: 'Permission checks, by result and by the step that decided.',
    labels: ['result', 'step'],
  })
  const logins = figures.counter({
    name: 'postern_login_total',
    help: 'Login attempts, by result.',
    labels: ['result'],
  })
  const captchas = figures.counter({
    name: 'postern_captcha_total',
    help: 'Captchas asked for, by result.',
    labels: ['result'],
  })
  const limited = figures.counter({
    name: 'postern_ratelimit_rejected_total',
    help: 'Requests refused by a limit.',
    labels: ['route'],
  })
  const retried = figures.counter({
    name: 'postern_upstream_retries_total',
    help: 'Requests that were sent again, to another target.',
    labels: ['upstream'],
  })
  figures.readGauge(
    {
      name: 'postern_open_requests',
      help: 'Requests that have begun and not ended.',
      whole: 'sum',
    },
    () => [{ value: open }],
  )
  const own = new Map([
    ['login', logins],
    ['captcha', captchas],
  ])

  return {
    began() {
      open++
    },
    ended({ route = 'none', method, status, outcome, seconds, ...checks }) {
      open--
      // A client chooses its method; it must not choose how many series there are.
      requests(route, methods.has(method) ? method : 'other', String(status), outcome)
      durations(seconds, route)
      const { carrier = 'none', identified, decision } = checks
      if (identified) identities('ok', carrier)
      else if (unidentified.has(outcome)) identities(outcome, carrier)
      if (decision !== undefined) {
        permissions(decision.allowed ? 'allowed' : 'denied', decision.step)
      }
      own.get(route)?.(outcome === 'passed' ? 'ok' : outcome)
      if (outcome === 'too-many-requests') limited(route)
      for (let time = 0; time < checks.retries; time++) retried(checks.upstream ?? 'none')
    },
  }
}
