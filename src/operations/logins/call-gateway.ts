import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Fault } from '../../kernel/errors.ts'

interface Call {
  /** Origin of the gateway. */
  readonly url: string
  readonly path: string
  /** Sent as JSON. */
  readonly body: object
  readonly token: string | undefined
  /** Accept any certificate. */
  readonly isInsecure: boolean
}

export interface Answered {
  readonly status: number
  /** Empty for a body that is no object in JSON. */
  readonly json: Readonly<Record<string, unknown>>
}

const timeoutMs = 30_000
/** More than any response of the endpoints of a gateway. */
const maxBytes = 1024 * 1024

/** Posts to the public port of a gateway. Throws a Fault when it does not answer. */
export function callGateway({ url, path, body, token, isInsecure }: Call): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const fail = ({ message }: Error) =>
    reject(new Fault('gateway', { reason: `${url} did not answer: ${message}` }))
  const payload = JSON.stringify(body)
  const start = url.startsWith('https:') ? requestHttps : requestHttp
  const request = start(`${url}${path}`, {
    method: 'POST',
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    ...(isInsecure && { rejectUnauthorized: false }),
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(payload),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  })
  request.on('error', fail)
  request.on('response', (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('error', fail)
    response.on('data', (chunk: string) => {
      text += chunk
      if (text.length > maxBytes) request.destroy(new Error('the answer is too long'))
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, json: parsed(text) }))
  })
  request.end(payload)
  return promise
}

function parsed(text: string): Answered['json'] {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Answered['json']) : {}
  } catch {
    return {}
  }
}
