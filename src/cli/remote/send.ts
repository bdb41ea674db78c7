import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Fault } from '../../kernel/errors.ts'
import { readText } from '../../kernel/response-text.ts'
import { version } from '../../kernel/version.ts'
import { printable } from '../format.ts'
import type { Gateway } from './gateway.ts'

/** A request below `/console/api/v1`. */
export interface ApiCall {
  readonly method: 'GET' | 'POST'
  /** With its query, such as `policy/who?method=GET&path=/orders`. */
  readonly path: string
  /** Sent as JSON. */
  readonly body?: object
  readonly cookie?: string | undefined
  /** Of a service account, in place of a cookie. */
  readonly token?: string
  readonly accept?: string
  /** How long to wait for the whole answer. */
  readonly timeoutMs: number
}

export interface ApiReply {
  readonly status: number
  /** Without parameters. */
  readonly type: string
  readonly setCookies: readonly string[]
  readonly text: string
}

const apiPrefix = '/console/api/v1'
const connectMs = 10_000
/** The console prints at most 64 million characters, which JSON may write with several bytes each. */
const maxBytes = 256 * 1024 * 1024

/** Asks a console. Follows no redirect. Throws a Fault when it does not answer. */
export function send(gateway: Gateway, sent: ApiCall): Promise<ApiReply> {
  const { origin, ca } = gateway
  const { method, path, body, cookie, token, timeoutMs } = sent
  const { promise, resolve, reject } = Promise.withResolvers<ApiReply>()
  const fail = (why: string) =>
    reject(new Fault('gateway', { reason: `the console ${origin} did not answer: ${why}` }))
  const payload = body === undefined ? undefined : JSON.stringify(body)
  const signal = AbortSignal.timeout(timeoutMs)
  const start = origin.startsWith('https:') ? requestHttps : requestHttp
  const request = start(`${origin}${apiPrefix}/${path}`, {
    ...{ method, signal, agent: false, ...(ca !== undefined && { ca }) },
    headers: {
      accept: sent.accept ?? 'application/json',
      'user-agent': `postern/${version}`,
      ...(cookie !== undefined && { cookie }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(payload !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(payload),
      }),
    },
  })
  const late = setTimeout(() => {
    request.destroy(new Error(`no connection within ${connectMs / 1000} s`))
  }, connectMs)
  request.on('socket', (socket) => {
    // A change may be silent for an hour, and the network forgets silent connections.
    socket.setKeepAlive(true, 30_000)
    socket.once(origin.startsWith('https:') ? 'secureConnect' : 'connect', () => clearTimeout(late))
  })
  request.on('response', (response) => {
    response.on('error', (error) => fail(describe(error, signal, timeoutMs)))
    readText(response, maxBytes, (text) => {
      const { statusCode: status = 0, headers } = response
      if (status >= 300 && status < 400) return fail(redirected(headers.location))
      const [type = ''] = (headers['content-type'] ?? '').split(';')
      resolve({ status, type: type.trim(), setCookies: headers['set-cookie'] ?? [], text })
    })
  })
  request.on('error', (error) => fail(describe(error, signal, timeoutMs)))
  request.on('close', () => {
    clearTimeout(late)
    fail('it closed the connection')
  })
  request.end(payload)
  return promise
}

function redirected(location: string | undefined): string {
  const target = location === undefined ? '' : ` to ${printable(location.slice(0, 200))}`
  return `it redirects${target}, which is not followed: give the final URL with --gateway`
}

function describe(error: NodeJS.ErrnoException, signal: AbortSignal, timeoutMs: number): string {
  const { code = '', message } = error
  if (signal.aborted) return `timeout after ${timeoutMs / 1000} s`
  if (code === 'ECONNREFUSED') return 'connection refused; check --gateway'
  if (code === 'ECONNRESET') return 'it closed the connection'
  if (code === 'EPROTO' || code.startsWith('ERR_SSL'))
    return `TLS failed (${code}); check --gateway`
  if (certificateCodes.test(code)) {
    return `its certificate is not trusted (${code}): give its authority with --ca-file or NODE_EXTRA_CA_CERTS`
  }
  return printable(message || code)
}

const certificateCodes = /CERT|UNABLE_TO|ERR_TLS/
