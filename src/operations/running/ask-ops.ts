import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'
import { Fault } from '../../kernel/errors.ts'
import { readText } from '../../kernel/response-text.ts'

interface OpsAnswer {
  readonly status: number
  /** What its JSON says. */
  readonly body: unknown
}

const timeoutMs = 10_000
/** Far more than hundreds of upstreams need. */
const maxBytes = 64 * 1024 * 1024

/**
 * Asks the ops listener of a running gateway, such as for `/readyz?verbose`. Throws a Fault if it does
 * not answer with JSON.
 */
export async function askOps(base: string, path: string): Promise<OpsAnswer> {
  const { status, text } = await fetchText(base, path)
  try {
    return { status, body: JSON.parse(text) }
  } catch {
    throw new Fault('gateway', {
      reason: `${base} answered ${status} without JSON, so it is not the ops listener of a gateway; name that with --ops`,
    })
  }
}

/** Not `fetch`, which refuses some ports. */
function fetchText(
  base: string,
  path: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const fail = (why: string) =>
    reject(new Fault('gateway', { reason: `the ops listener ${base} did not answer: ${why}` }))
  const get = base.startsWith('https:') ? getHttps : getHttp
  const signal = AbortSignal.timeout(timeoutMs)
  const request = get(`${base}${path}`, { agent: false, signal }, (response) => {
    response.on('error', (error) => fail(error.message))
    readText(response, maxBytes, (text) => resolve({ status: response.statusCode ?? 0, text }))
  })
  request.on('error', (error: NodeJS.ErrnoException) => {
    if (signal.aborted) fail(`timeout after ${timeoutMs / 1000} seconds`)
    else if (error.code === 'ECONNREFUSED')
      fail('connection refused; start the gateway, or name its ops listener with --ops')
    else fail(error.message || String(error.code))
  })
  return promise
}
