import { setTimeout as pause } from 'node:timers/promises'
import {
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace as traces,
} from '@opentelemetry/api'
import {
  clientAttributes,
  clientError,
  methodAttributes,
  nameOf,
  type SpanAttributes,
  serverAttributes,
  serverError,
  serverName,
  type TracedEnd,
} from './span-attributes.ts'
import { longestFlushMs, type Spans } from './spans.ts'
import type { Trace } from './trace.ts'

/** The spans of one request: the server span, and the client span once it is forwarded. */
interface OpenSpan extends Trace {
  readonly server: Span
  client?: Span
}

/** Spans of the loaded SDK, or `undefined` without one. Called once, so that it costs nothing per request. */
export function sdkSpans(version: string): Spans | undefined {
  // Without an SDK, the API returns a proxy for a provider that may be registered later.
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
      const span: OpenSpan = { ...placeOf(server), server }
      return span
    },
    beginUpstream(trace, upstream) {
      const span = trace as OpenSpan
      const context = traces.setSpan(ROOT_CONTEXT, span.server)
      const attributes = { 'postern.upstream': upstream }
      span.client = tracer.startSpan(upstream, { kind: SpanKind.CLIENT, attributes }, context)
      return placeOf(span.client)
    },
    end(trace, end) {
      const { server, client } = trace as OpenSpan
      if (client !== undefined) endClient(client, end)
      endServer(server, end)
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
  if (span.isRecording()) {
    span.updateName(serverName(end))
    tell(span, serverAttributes(end), serverError(end))
  }
  span.end()
}

function endClient(span: Span, end: TracedEnd): void {
  if (span.isRecording()) {
    span.updateName(nameOf(end.method))
    tell(span, clientAttributes(end), clientError(end))
  }
  span.end()
}

function tell(span: Span, attributes: SpanAttributes, error: string | undefined): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) span.setAttribute(name, value)
  }
  if (error === undefined) return
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.setAttribute('error.type', error)
}
