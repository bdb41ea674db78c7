import { setTimeout as pause } from 'node:timers/promises'
import {
  type Attributes,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace as traces,
} from '@opentelemetry/api'
import type { Trace } from './trace.ts'

/** The spans of one request: its own, and that of the exchange with an upstream once there is one. */
export interface OpenSpan extends Trace {
  readonly server: Span
  client?: Span
}

/** What is known of a request when its span begins. */
export interface BegunRequest {
  readonly method: string
  readonly scheme: 'http' | 'https'
}

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

/** Begins and ends spans. Neither a token nor a query ever stands in one. */
export interface Spans {
  readonly begin: (request: BegunRequest, parent: Trace | undefined) => OpenSpan
  readonly beginUpstream: (span: OpenSpan, upstream: string) => Trace
  /** Ends what was begun, each span once. */
  readonly end: (span: OpenSpan, end: TracedEnd) => void
  /** Has the SDK send off what has ended, for at most two seconds: for the end of the process. */
  readonly flush: () => Promise<void>
}

const longestFlushMs = 2000

/**
 * Spans by the SDK that is loaded, or `undefined` when none is: looked at once, so that a gateway
 * without one does nothing about spans.
 */
export function findSpans(version: string): Spans | undefined {
  // Without an SDK, the API has a provider all the same, which stands in for one that may come.
  const found: TracerProvider & Partial<StandIn> = traces.getTracerProvider()
  if (found.getDelegateTracer?.('postern') === undefined && found.getDelegate !== undefined) {
    return undefined
  }
  const sdk: TracerProvider & Partial<Flushing> = found.getDelegate?.() ?? found
  return createSpans(sdk.getTracer('postern', version), async () => sdk.forceFlush?.())
}

interface StandIn {
  getDelegateTracer(name: string): Tracer | undefined
  getDelegate(): TracerProvider
}

interface Flushing {
  forceFlush(): Promise<void>
}

/** Names and meanings are those of the stable semantic conventions for HTTP. */
function createSpans(tracer: Tracer, flush: () => Promise<void>): Spans {
  return {
    begin({ method, scheme }, parent) {
      const attributes = { ...methodAttributes(method), 'url.scheme': scheme }
      const context = parent === undefined ? ROOT_CONTEXT : contextOf(parent)
      const server = tracer.startSpan(
        nameOf(method),
        { kind: SpanKind.SERVER, attributes },
        context,
      )
      return { ...placeOf(server), server }
    },
    beginUpstream(span, upstream) {
      const context = traces.setSpan(ROOT_CONTEXT, span.server)
      const attributes = { 'postern.upstream': upstream }
      span.client = tracer.startSpan(upstream, { kind: SpanKind.CLIENT, attributes }, context)
      return placeOf(span.client)
    },
    end(span, end) {
      if (span.client !== undefined) endClient(span.client, end)
      endServer(span.server, end)
    },
    async flush() {
      const over = new AbortController()
      const end = () => over.abort()
      await Promise.race([
        flush().then(end, end),
        pause(longestFlushMs, undefined, { signal: over.signal }).then(end, end),
      ])
    },
  }
}

function contextOf({ traceId, spanId, flags, state }: Trace) {
  return traces.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  })
}

function placeOf(span: Span): Trace {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  return { traceId, spanId, flags: traceFlags, state: traceState?.serialize() || undefined }
}

function endServer(span: Span, end: TracedEnd): void {
  const { method, status, outcome, error, notes } = end
  const route = routeOf(notes)
  if (span.isRecording()) {
    span.updateName(route === undefined ? nameOf(method) : `${nameOf(method)} ${route}`)
    span.setAttributes(
      known({
        ...methodAttributes(method),
        'url.path': notes.path,
        'http.route': route,
        'http.response.status_code': status,
        'client.address': notes.address,
        'postern.outcome': outcome,
        'postern.revision': notes.decision?.revision,
        'postern.request_id': notes.requestId,
        'postern.contract': notes.contract,
      }),
    )
    // A refusal is the gateway at work, and so is a client that was wrong or left.
    if (error !== undefined || status >= 500 || outcome === 'cut-by-upstream') fail(span, end)
  }
  span.end()
}

function endClient(span: Span, end: TracedEnd): void {
  const { method, status, outcome, error, notes } = end
  if (span.isRecording()) {
    const answered = outcome === 'passed' || outcome.startsWith('cut-by-')
    span.updateName(nameOf(method))
    span.setAttributes(
      known({
        ...methodAttributes(method),
        ...serverAttributes(notes),
        'http.response.status_code': answered && status !== 499 ? status : undefined,
        'http.request.resend_count': notes.retries,
      }),
    )
    // To a client, a 4xx is a failure as well.
    const refused = answered && status >= 400 && status !== 499
    if (error !== undefined || refused || outcome === 'cut-by-upstream') fail(span, end)
  }
  span.end()
}

function fail(span: Span, { outcome, status }: TracedEnd): void {
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.setAttribute('error.type', outcome === 'passed' ? String(status) : outcome)
}

/** `name` of a target is its origin, with the address besides where there are several. */
function serverAttributes({ target, path, sentPath }: TracedEnd['notes']): OpenAttributes {
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
function nameOf(method: string): string {
  return knownMethods.has(method) ? method : 'HTTP'
}

function methodAttributes(method: string): Attributes {
  if (knownMethods.has(method)) return { 'http.request.method': method }
  return { 'http.request.method': '_OTHER', 'http.request.method_original': method }
}

/** The route of the configuration, or the path of an endpoint of ours, of which there are few. */
function routeOf({ route, path }: TracedEnd['notes']): string | undefined {
  if (route === undefined || route === 'none') return undefined
  return route.startsWith('/') ? route : path
}

type OpenAttributes = Readonly<Record<string, string | number | undefined>>

function known(attributes: OpenAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}
