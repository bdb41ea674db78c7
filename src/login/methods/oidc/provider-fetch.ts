import { type IncomingMessage, request as requestPlain } from 'node:http'
import { type RequestOptions, request as requestSecure } from 'node:https'
import type { SecureContext } from 'node:tls'
import type { CustomFetch } from 'openid-client'
import { keyUrlProblem } from '../../../kernel/key-url.ts'
import { readAnswer } from '../../../token/issuers/read-answer.ts'

/** Discovery documents, key sets and token responses are a few KiB. */
const maxBytes = 262_144

/**
 * Requests to a provider: bounded in size and time, with its own certificates, without redirects. The
 * discovery document names the addresses, so each is checked again.
 */
export function createProviderFetch({
  secureContext,
  timeoutMs,
}: {
  readonly secureContext: SecureContext | undefined
  readonly timeoutMs: number
}): CustomFetch {
  return (address, { method, headers, body, signal }) => {
    const url = new URL(address)
    const problem = keyUrlProblem(address)
    if (problem !== undefined) return Promise.reject(new Error(`${url.origin} ${problem}`))
    const text = body === undefined || body === null ? undefined : String(body)
    const length = text !== undefined && { 'content-length': String(Buffer.byteLength(text)) }
    const limit = AbortSignal.timeout(timeoutMs)
    const options = {
      method,
      headers: { ...headers, ...length },
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      // A connection of its own: a stale one would make a login fail that cannot be sent again.
      agent: false,
      ...(secureContext !== undefined && { secureContext }),
    } as const
    return send(url, options, { text, timeoutMs })
  }
}

function send(
  url: URL,
  options: RequestOptions & { readonly signal: AbortSignal },
  { text, timeoutMs }: { readonly text: string | undefined; readonly timeoutMs: number },
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const { signal } = options
  const request =
    url.protocol === 'https:' ? requestSecure(url, options) : requestPlain(url, options)
  const fail = (error: Error) => {
    // openid-client has a limit of the same length, which may be the first to end.
    const isLate = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
    reject(isLate ? new Error(`timeout: no complete answer within ${timeoutMs} ms`) : error)
    request.destroy()
  }
  request.on('response', (response) => read(response).then(resolve, fail))
  request.on('upgrade', () => fail(new Error('HTTP 101: the server switches to another protocol')))
  request.on('error', fail)
  request.end(text)
  return promise
}

async function read(response: IncomingMessage): Promise<Response> {
  const body = await readAnswer(response, maxBytes)
  const { statusCode: status = 500, headers } = response
  const bytes = status === 204 || status === 304 ? null : body
  const kept = ['content-type', 'www-authenticate'].flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value] as [string, string]] : []
  })
  return new Response(bytes, { status, headers: kept })
}
