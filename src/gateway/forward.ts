import type { ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import { Fault, Refusal } from '../errors.ts'
import { queryWithoutToken } from './carriers.ts'
import type { RelayHeaders } from './relayed-headers.ts'
import { requestBody } from './request-body.ts'
import type { Authorized } from './stages.ts'
import type { UpstreamHeaders } from './upstream-headers.ts'
import type { Upstream, Upstreams } from './upstreams.ts'

export interface ForwardParts {
  readonly upstreams: Upstreams
  readonly upstreamHeaders: UpstreamHeaders
  readonly relayHeaders: RelayHeaders
  readonly maxBodyBytes: number
}

/**
 * Sends an authorized request to its upstream and streams the answer back. The path that was
 * decided on is the path that goes out, byte for byte, through no URL parser. Resolves when the
 * exchange is over; rejects with a Fault only while the client has not been answered yet.
 */
export async function forward(
  authorized: Authorized,
  reply: ServerResponse,
  parts: ForwardParts,
): Promise<void> {
  const { received } = authorized
  const upstreamName = received.endpoint?.upstream ?? received.route?.upstream
  if (upstreamName === undefined) throw new Refusal('no-such-route')
  received.arrival.notes.upstream = upstreamName

  const upstream = parts.upstreams.get(upstreamName)
  const options = departure(authorized, reply, parts)
  await exchange(authorized, { reply, upstream, options, relayHeaders: parts.relayHeaders })
}

function departure(
  authorized: Authorized,
  reply: ServerResponse,
  { upstreamHeaders, maxBodyBytes }: ForwardParts,
): Dispatcher.DispatchOptions {
  const { received } = authorized
  const { call, headers, arrival, route } = received
  const query = route?.forwardCredentials ? received.query : queryWithoutToken(received.query)
  const hasBody = headers.chunked || Number(headers.contentLength ?? 0) > 0

  if (Number(headers.contentLength ?? 0) > maxBodyBytes) throw new Refusal('body-too-large')
  // Only now, so that a refused upload is never sent.
  if (headers.expectsContinue) reply.writeContinue()

  return {
    method: call.method as Dispatcher.HttpMethod,
    path: query === '' ? call.path : `${call.path}?${query}`,
    headers: upstreamHeaders(authorized),
    body: hasBody ? requestBody(arrival.body, maxBodyBytes) : null,
  }
}

interface Exchange {
  readonly reply: ServerResponse
  readonly upstream: Upstream
  readonly options: Dispatcher.DispatchOptions
  readonly relayHeaders: RelayHeaders
}

function exchange(authorized: Authorized, parts: Exchange): Promise<void> {
  const { reply, upstream, options, relayHeaders } = parts
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const { notes } = authorized.received.arrival
  let controller: Dispatcher.DispatchController | undefined
  let over = false

  function end(error?: unknown): void {
    if (over) return
    over = true
    upstream.done()
    reply.off('close', leave)
    reply.off('drain', goOn)
    if (error === undefined) resolve()
    else if (reply.headersSent) {
      // The client has part of an answer: ending the connection is the only way left to say so.
      notes.cut = 'upstream'
      reply.destroy()
      resolve()
    } else reject(error instanceof Refusal ? error : upstreamFault(error))
  }
  function leave(): void {
    notes.cut = 'client'
    controller?.abort(new Error('the client left'))
    end()
  }
  function goOn(): void {
    controller?.resume()
  }

  upstream.dispatch(options, {
    onRequestStart(started) {
      controller = started
      if (over) started.abort(new Error('the client left'))
    },
    onResponseStart(_, status, headers) {
      if (status < 200 || over) return
      reply.writeHead(status, relayHeaders(headers, status, authorized.carrier))
    },
    onResponseData(active, chunk) {
      if (!reply.write(chunk)) active.pause()
    },
    onResponseEnd() {
      reply.end()
      end()
    },
    onResponseError(_, error) {
      end(error)
    },
  })
  reply.on('close', leave)
  reply.on('drain', goOn)
  return promise
}

const timeouts = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])
const unreachable = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

function upstreamFault(cause: unknown): Fault {
  const code = String((cause as { code?: unknown })?.code)
  if (timeouts.has(code)) return new Fault('upstream-timeout', { cause })
  if (unreachable.has(code)) return new Fault('upstream-unreachable', { cause })
  return new Fault('upstream-broken', { cause })
}
