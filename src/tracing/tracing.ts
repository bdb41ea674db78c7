import type { TracedEnd } from './span-attributes.ts'
import type { OpenSpan, Spans } from './spans.ts'
import { formatTrace, newSpanId, readTrace, type Trace } from './trace.ts'

/** A request that has just come in, as Node shows it. */
interface TracedRequest {
  readonly method?: string | undefined
  readonly rawHeaders: readonly string[]
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** What is done about the trace of a request. */
export interface Tracing {
  /** The trace that a request belongs to; begins its span where an SDK is loaded. */
  readonly begin: (request: TracedRequest) => Trace | undefined
  /** The headers that tell an upstream of it; begins the span of that exchange likewise. */
  readonly depart: (trace: Trace, upstream: string) => readonly string[]
  /** Ends every span that was begun for it. Absent where there are none. */
  readonly ended: ((trace: Trace | undefined, end: TracedEnd) => void) | undefined
}

interface TracingParts {
  readonly propagate: 'span' | 'same' | 'off'
  /** Whose traceparent counts; absent when everybody's does. */
  readonly isBelieved?: ((address: string) => boolean) | undefined
  /** Only where an SDK is loaded. */
  readonly spans: Spans | undefined
}

/**
 * Goes on with the traces that others began. Without an SDK none is begun here: whoever reads a
 * traceparent of ours would take our flag for a decision on sampling, and there is none.
 * `undefined` when there is nothing to do for any request.
 */
export function createTracing({ propagate, isBelieved, spans }: TracingParts): Tracing | undefined {
  if (propagate === 'off' && spans === undefined) return undefined

  function arrived({ rawHeaders, socket }: TracedRequest): Trace | undefined {
    if (propagate === 'off') return undefined
    const trace = findTrace(rawHeaders)
    if (trace === undefined || isBelieved === undefined) return trace
    return isBelieved(socket.remoteAddress ?? '') ? trace : undefined
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
      return unlessItFails(() => spans.begin({ method, scheme }, arrived(request)))
    },
    depart(trace, upstream) {
      const sent = unlessItFails(() => spans.beginUpstream(trace as OpenSpan, upstream))
      return propagates && sent !== undefined ? headersOf(sent) : []
    },
    ended(trace, end) {
      if (trace !== undefined) unlessItFails(() => spans.end(trace as OpenSpan, end))
    },
  }
}

/** Samplers and processors are somebody else's; a request does not fail for want of a span. */
function unlessItFails<T>(work: () => T): T | undefined {
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

/** By length and first letter before anything else: this is done for every request. */
function findTrace(rawHeaders: readonly string[]): Trace | undefined {
  let parent: string | undefined
  let state: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length !== 11 && name.length !== 10) continue
    if ((name.charCodeAt(0) | 32) !== 116) continue
    const lower = name.toLowerCase()
    const value = rawHeaders[at + 1] as string
    // Two of them make none: the comma is no part of the form.
    if (lower === 'traceparent') parent = parent === undefined ? value : `${parent},${value}`
    else if (lower === 'tracestate') state = state === undefined ? value : `${state},${value}`
  }
  return parent === undefined ? undefined : readTrace(parent, state)
}
