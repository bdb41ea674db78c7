import { get as getPlain, type IncomingMessage } from 'node:http'
import { get as getSecure, type RequestOptions } from 'node:https'
import type { SecureContext } from 'node:tls'
import { readAnswer } from './read-answer.ts'

export interface GetOptions {
  readonly secureContext: SecureContext | undefined
  readonly bearer: string | undefined
  readonly signal: AbortSignal
  /** For everything: name lookup, connection, TLS and the last byte of the body. */
  readonly timeoutMs?: number
  /** Called with the Date header of an answer. */
  readonly onDate?: ((date: string) => void) | undefined
}

/** 100 large RSA keys with their certificates take less. */
const maxBytes = 262_144

/**
 * Gets a small document. Follows no redirect: keys come from the address that the configuration
 * names, or from nowhere. Rejects with a reason for the log.
 */
export function getBytes(
  url: URL,
  { secureContext, bearer, signal, timeoutMs = 5000, onDate }: GetOptions,
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const options: RequestOptions = {
    // A connection of its own: fetches are minutes apart.
    agent: false,
    signal,
    headers: {
      accept: 'application/json, application/jwk-set+json',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    },
    ...(secureContext !== undefined && { secureContext }),
  }
  const isSecure = url.protocol === 'https:'
  const request = isSecure ? getSecure(url, options) : getPlain(url, options)
  const timer = setTimeout(
    () => fail(new Error(`timeout: no complete answer within ${timeoutMs} ms`)),
    timeoutMs,
  )
  request.on('response', (response) => {
    if (response.headers.date !== undefined) onDate?.(response.headers.date)
    readAll(response).then(resolve, fail)
  })
  // Without a listener, Node closes the connection and reports no error.
  request.on('upgrade', () => fail(new Error('HTTP 101: the server switches to another protocol')))
  request.on('error', fail)
  request.on('close', () => clearTimeout(timer))

  function fail(error: Error): void {
    reject(error)
    request.destroy()
  }
  return promise
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const { statusCode = 0 } = response
  if (statusCode >= 300 && statusCode < 400) {
    throw new Error(`HTTP ${statusCode}: redirects are not followed`)
  }
  if (statusCode !== 200) throw new Error(`HTTP ${statusCode}`)
  return readAnswer(response, maxBytes)
}
