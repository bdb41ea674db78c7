/** The end of a request, as its spans record it. */
export interface TracedEnd {
  readonly method: string
  readonly status: number
  readonly outcome: string
  /** Set unless the client caused it. */
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
    readonly kind?: string
  }
}

/** By the names of the semantic conventions; `undefined` if unknown. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>

/** The attributes of the server span when it ends. */
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
    'postern.kind': notes.kind === 'user' ? undefined : notes.kind,
  }
}

/** Why a request failed. Neither a refusal nor a client disconnect is an error. */
export function serverError(end: TracedEnd): string | undefined {
  const failed = end.error !== undefined || end.status >= 500 || isCutByUpstream(end)
  return failed ? errorType(end) : undefined
}

/** The attributes of the client span, for the upstream, when it ends. */
export function clientAttributes(end: TracedEnd): SpanAttributes {
  return {
    ...methodAttributes(end.method),
    ...targetAttributes(end.notes),
    'http.response.status_code': hasAnswer(end) ? end.status : undefined,
    'http.request.resend_count': end.notes.retries,
  }
}

/** Why an upstream request failed. For a client span, 4xx is an error too. */
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

/** Whether the status came from the upstream. */
function hasAnswer({ outcome, status }: TracedEnd): boolean {
  return (outcome === 'passed' || outcome.startsWith('cut-by-')) && status !== 499
}

/** The name of a target is its origin, followed by the address if it has several. */
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

/** The method is client input: an unknown one must not create a new span name. */
export function nameOf(method: string): string {
  return knownMethods.has(method) ? method : 'HTTP'
}

/** The name of the server span when it ends. */
export function serverName({ method, notes }: TracedEnd): string {
  const route = routeOf(notes)
  return route === undefined ? nameOf(method) : `${nameOf(method)} ${route}`
}

/** The method, or `_OTHER` for an unknown one. */
export function methodAttributes(method: string): Readonly<Record<string, string>> {
  if (knownMethods.has(method)) return { 'http.request.method': method }
  return { 'http.request.method': '_OTHER', 'http.request.method_original': method }
}

/** The configured route, or the path of one of the gateway's own endpoints. */
function routeOf({ route, path }: TracedEnd['notes']): string | undefined {
  if (route === undefined || route === 'none') return undefined
  return route.startsWith('/') ? route : path
}
