import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import type { ExportedSpan } from './tracing-sdk.ts'

/** One span, as it came, and the resource that it came with. */
export interface CollectedSpan extends Omit<ExportedSpan, 'pid'> {
  readonly resource: Readonly<Record<string, unknown>>
  readonly traceState?: string
  readonly flags: number
  readonly startMs: number
  readonly endMs: number
}

export interface Export {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly spans: readonly CollectedSpan[]
}

/** A collector that receives spans by OTLP/HTTP as JSON, on a port of its own. */
export interface Collector {
  readonly port: number
  readonly origin: string
  /** Every export that it accepted, in order. */
  readonly exports: readonly Export[]
  readonly spans: () => readonly CollectedSpan[]
  /** How many exports came, accepted or not. */
  readonly attempts: () => number
  /** Answers like this from now on, instead of accepting. `undefined`: accepts again. */
  readonly answerWith: (answer: ((response: ServerResponse) => void) | undefined) => void
  readonly close: () => Promise<void>
}

export async function startCollector(port = 0): Promise<Collector> {
  const exports: Export[] = []
  let attempts = 0
  let answer: ((response: ServerResponse) => void) | undefined
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined)
    if (body === undefined) return
    attempts++
    if (answer !== undefined) return answer(response)
    const { url = '', headers } = request
    exports.push({ path: url, headers, spans: read(gunzipSync(body).toString()) })
    response.setHeader('content-type', 'application/json').end('{"partialSuccess":{}}')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: used } = server.address() as AddressInfo
  return {
    port: used,
    origin: `http://127.0.0.1:${used}`,
    exports,
    spans: () => exports.flatMap(({ spans }) => spans),
    attempts: () => attempts,
    answerWith: (given) => {
      answer = given
    },
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}
interface Span {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly flags: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { readonly code: number }
  readonly attributes: readonly Attribute[]
}
interface ResourceSpans {
  readonly resource: { readonly attributes: readonly Attribute[] }
  readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
}

function read(text: string): readonly CollectedSpan[] {
  const { resourceSpans } = JSON.parse(text) as { resourceSpans: readonly ResourceSpans[] }
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        name: span.name,
        kind: span.kind === 2 ? ('SERVER' as const) : ('CLIENT' as const),
        traceId: span.traceId,
        spanId: span.spanId,
        ...(span.parentSpanId !== undefined && { parentId: span.parentSpanId }),
        ...(span.traceState !== undefined && { traceState: span.traceState }),
        flags: span.flags,
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        status: span.status?.code ?? 0,
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
      })),
    ),
  )
}

function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.intValue === undefined ? value.stringValue : Number(value.intValue),
    ]),
  )
}
