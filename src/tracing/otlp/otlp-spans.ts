import {
  clientAttributes,
  clientError,
  nameOf,
  serverAttributes,
  serverError,
  serverName,
} from '../span-attributes.ts'
import type { Spans } from '../spans.ts'
import { newSpanId, type Trace } from '../trace.ts'
import { CLIENT, SERVER, toSpanJson } from './span-json.ts'

/** The spans of one request: the server span, and the client span once it is forwarded. */
interface OpenSpan extends Trace {
  readonly parentId: string | undefined
  readonly scheme: string
  /** The start by the clock of the machine, and by a clock that is never set. */
  readonly startMs: number
  readonly startedAt: number
  client?: { readonly spanId: string; readonly startMs: number; readonly upstream: string }
}

interface SpansOptions {
  /** Share of the traces that begin here, in percent. */
  readonly samplePercent: number
  /** Takes an ended span, in its JSON form. Does not call `make` if there is no room. */
  readonly add: (make: () => string) => void
  readonly flush: () => Promise<void>
}

const SAMPLED = 1
const RANDOM = 2

/** The spans that an SDK would make, without one. Follows the sampling decision of incoming traces. */
export function createOtlpSpans({ samplePercent, add, flush }: SpansOptions): Spans {
  const newFlags = () => RANDOM | (Math.random() * 100 < samplePercent ? SAMPLED : 0)

  return {
    begin({ scheme }, parent) {
      const span: OpenSpan = {
        traceId: parent?.traceId ?? `${newSpanId()}${newSpanId()}`,
        spanId: newSpanId(),
        flags: parent?.flags ?? newFlags(),
        state: parent?.state,
        parentId: parent?.spanId,
        scheme,
        startMs: Date.now(),
        startedAt: performance.now(),
      }
      return span
    },
    beginUpstream(trace, upstream) {
      const span = trace as OpenSpan
      span.client = { spanId: newSpanId(), startMs: nowOf(span), upstream }
      const { traceId, flags, state } = span
      return { traceId, spanId: span.client.spanId, flags, state }
    },
    end(trace, end) {
      const span = trace as OpenSpan
      if ((span.flags & SAMPLED) === 0) return
      const { traceId, spanId, flags, state, client, parentId } = span
      const place = { traceId, flags, state, endMs: nowOf(span) }
      if (client !== undefined) {
        add(() =>
          toSpanJson({
            ...place,
            spanId: client.spanId,
            parentId: spanId,
            isParentRemote: false,
            name: nameOf(end.method),
            kind: CLIENT,
            startMs: client.startMs,
            attributes: { 'postern.upstream': client.upstream, ...clientAttributes(end) },
            error: clientError(end),
          }),
        )
      }
      add(() =>
        toSpanJson({
          ...place,
          spanId,
          parentId,
          isParentRemote: parentId !== undefined,
          name: serverName(end),
          kind: SERVER,
          startMs: span.startMs,
          attributes: { 'url.scheme': span.scheme, ...serverAttributes(end) },
          error: serverError(end),
        }),
      )
    },
    flush,
  }
}

/** Now, by the clock that the span began with: a clock that is set meanwhile changes no duration. */
function nowOf({ startMs, startedAt }: OpenSpan): number {
  return startMs + (performance.now() - startedAt)
}
