import type { TracedEnd } from './span-attributes.ts'
import type { Spans } from './spans.ts'
import { formatTrace, newSpanId, readTrace, type Trace } from './trace.ts'

/** An incoming request, as Node represents it. */
interface TracedRequest {
  readonly method?: string | undefined
  readonly rawHeaders: readonly string[]
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** Follows the trace of a request. */
export interface Tracing {
  /** The trace of a request. Begins its span if an SDK is loaded. */
  readonly begin: (request: TracedRequest) => Trace | undefined
  /** The trace headers for an upstream. Begins the client span if an SDK is loaded. */
  readonly depart: (trace: Trace, upstream: string) => readonly string[]
  /** Ends the spans of a request. `undefined` without an SDK. */
  readonly ended: ((trace: Trace | undefined, end: TracedEnd) => void) | undefined
}

interface TracingParts {
  readonly propagate: 'span' | 'same' | 'off'
  /** Whose traceparent is trusted. Unset: everyone's. */
  readonly isTrusted?: ((address: string) => boolean) | undefined
  /** Set if an SDK is loaded. */
  readonly spans: Spans | undefined
}

/**
 * Continues traces from incoming requests. Without an SDK it starts no trace: services would take the
 * flag of a new traceparent for a sampling decision. `undefined` if there is nothing to do.
 */
export function createTracing({ propagate, isTrusted, spans }: TracingParts): Tracing | undefined {
  if (propagate === 'off' && spans === undefined) return undefined

  function arrived({ rawHeaders, socket }: TracedRequest): Trace | undefined {
    if (propagate === 'off') return undefined
    const trace = findTrace(rawHeaders)
    if (trace === undefined || isTrusted === undefined) return trace
    return isTrusted(socket.remoteAddress ?? '') ? trace : undefined
  }

  if (spans !== undefined) return withSpans(spans, arrived, propagate !== 'off')
  return {
    begin(request) {
      const trace = arrived(request)
      if (trace === undefined || propagate === 'same') return trace
      return { ...trace, spanId: newSpanId() }
    },
    depart: headersOf,
    ended: undefined,
  }
}

function withSpans(
  spans: Spans,
  arrived: (request: TracedRequest) => Trace | undefined,
  propagates: boolean,
): Tracing {
  return {
    begin(request) {
      const { method = '', socket } = request
      const scheme = 'encrypted' in socket ? 'https' : 'http'
      return ignoringErrors(() => spans.begin({ method, scheme }, arrived(request)))
    },
    depart(trace, upstream) {
      const sent = ignoringErrors(() => spans.beginUpstream(trace, upstream))
      return propagates && sent !== undefined ? headersOf(sent) : []
    },
    ended(trace, end) {
      if (trace !== undefined) ignoringErrors(() => spans.end(trace, end))
    },
  }
}

/** Samplers and processors are third-party code: their errors must not fail a request. */
function ignoringErrors<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function headersOf(trace: Trace): readonly string[] {
  const parent = formatTrace(trace)
  if (trace.state === undefined) return ['traceparent', parent]
  return ['traceparent', parent, 'tracestate', trace.state]
}

/** Checks length and first letter first, because this runs for every request. */
function findTrace(rawHeaders: readonly string[]): Trace | undefined {
  let parent: string | undefined
  let state: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length !== 11 && name.length !== 10) continue
    if ((name.charCodeAt(0) | 32) !== 116) continue
    const lower = name.toLowerCase()
    const value = rawHeaders[at + 1] as string
    // Joined with a comma, a repeated header is malformed and so ignored.
    if (lower === 'traceparent') parent = parent === undefined ? value : `${parent},${value}`
    else if (lower === 'tracestate') state = state === undefined ? value : `${state},${value}`
  }
  return parent === undefined ? undefined : readTrace(parent, state)
}
