/** A request that is over, as far as its spans tell of it. */
export interface TracedEnd {
  readonly method: string
  readonly status: number
  readonly outcome: string
  /** Set when it was not the client's doing. */
  readonly error: Error | undefined
  readonly notes: {
    readonly path?: string
    readonly sentPath?: string
    readonly route?: string
    readonly address?: string
    readonly contract?: string
    readonly requestId?: string
    readonly target?: string
    readonly retries?: number
    readonly decision?: { readonly revision: string }
  }
}

/** By the names of the semantic conventions; what is not known is `undefined`. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>

/** What the span of a request says when it ends. */
export function serverAttributes({ method, status, outcome, notes }: TracedEnd): SpanAttributes {
  return {
    ...methodAttributes(method),
    'url.path': notes.path,
    'http.route': routeOf(notes),
    'http.response.status_code': status,
    'client.address': notes.address,
    'postern.outcome': outcome,
    'postern.revision': notes.decision?.revision,
    'postern.request_id': notes.requestId,
    'postern.contract': notes.contract,
  }
}

/** Why a request failed. A refusal is the gateway at work, and so is a client that left. */
export function serverError(end: TracedEnd): string | undefined {
  const failed = end.error !== undefined || end.status >= 500 || isCutByUpstream(end)
  return failed ? errorType(end) : undefined
}

/** What the span of the exchange with an upstream says when it ends. */
export function clientAttributes(end: TracedEnd): SpanAttributes {
  return {
    ...methodAttributes(end.method),
    ...targetAttributes(end.notes),
    'http.response.status_code': hasAnswer(end) ? end.status : undefined,
    'http.request.resend_count': end.notes.retries,
  }
}

/** Why an exchange failed. To a client, a 4xx is a failure as well. */
export function clientError(end: TracedEnd): string | undefined {
  const refused = hasAnswer(end) && end.status >= 400
  return end.error !== undefined || refused || isCutByUpstream(end) ? errorType(end) : undefined
}

function errorType({ outcome, status }: TracedEnd): string {
  return outcome === 'passed' ? String(status) : outcome
}

function isCutByUpstream({ outcome }: TracedEnd): boolean {
  return outcome === 'cut-by-upstream'
}

/** Whether the status is one that the upstream gave. */
function hasAnswer({ outcome, status }: TracedEnd): boolean {
  return (outcome === 'passed' || outcome.startsWith('cut-by-')) && status !== 499
}

/** The name of a target is its origin, with the address besides where there are several. */
function targetAttributes({ target, path, sentPath }: TracedEnd['notes']): SpanAttributes {
  if (target === undefined) return {}
  const [origin = '', address] = target.split(' ')
  const { hostname, port, protocol } = new URL(origin)
  return {
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    'url.full': `${origin}${sentPath ?? path ?? ''}`,
    'network.peer.address': address?.slice(1, -1),
  }
}

const knownMethods: ReadonlySet<string> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '),
)

/** A client chooses its method; it must not choose how many names of spans there are. */
export function nameOf(method: string): string {
  return knownMethods.has(method) ? method : 'HTTP'
}

/** The method, or that it is another one than those that everybody knows. */
export function methodAttributes(method: string): Readonly<Record<string, string>> {
  if (knownMethods.has(method)) return { 'http.request.method': method }
  return { 'http.request.method': '_OTHER', 'http.request.method_original': method }
}

/** The route of the configuration, or the path of an endpoint of ours, of which there are few. */
export function routeOf({ route, path }: TracedEnd['notes']): string | undefined {
  if (route === undefined || route === 'none') return undefined
  return route.startsWith('/') ? route : path
}
