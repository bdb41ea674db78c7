import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'
import { isIPv6 } from 'node:net'
import { configFile } from '../../config/load.ts'
import type { Config } from '../../config/schema/schema.ts'
import { Fault, Invalid } from '../../errors.ts'
import { UsageError } from '../command.ts'
import type { Io } from '../io.ts'
import { readWithoutSecret } from '../settings.ts'

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
 * not answer with JSON, and `Invalid` if neither the option nor the configuration says where it listens.
 */
export async function askOps(
  path: string,
  options: { readonly ops: string | undefined; readonly config: string | undefined },
  io: Io,
): Promise<OpsAnswer> {
  const base = options.ops === undefined ? configuredOps(options.config, io) : givenOps(options.ops)
  const { status, text } = await fetchText(base, path)
  try {
    return { status, body: JSON.parse(text) }
  } catch {
    throw new Fault('port', {
      reason: `${base} answered ${status} without JSON: is it the ops listener of a gateway?`,
    })
  }
}

function givenOps(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `--ops: write a URL such as http://127.0.0.1:9100, not ${JSON.stringify(text)}`,
    )
  }
  return url.origin
}

function configuredOps(named: string | undefined, io: Io): string {
  const source = { file: named, env: io.env, cwd: io.cwd }
  const { config, problems } = readWithoutSecret(source)
  if (config === undefined) throw new Invalid(problems)
  if (config.ops.port === 0) {
    const message =
      'ops.port is 0, so the port is known to the gateway only: give it with --ops URL'
    throw new Invalid([{ file: configFile(source), message }])
  }
  return opsAddress(config.ops)
}

function opsAddress({ host, port }: Config['ops']): string {
  // An address that means "all of them" can be listened on, but not connected to.
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`
}

/** Not `fetch`, which refuses some ports. */
function fetchText(
  base: string,
  path: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const fail = (why: string) => reject(new Fault('port', { reason: `${base}: ${why}` }))
  const get = base.startsWith('https:') ? getHttps : getHttp
  const signal = AbortSignal.timeout(timeoutMs)
  const request = get(`${base}${path}`, { agent: false, signal }, (response) => {
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxBytes) request.destroy(new Error('the answer is too long'))
    })
    response.on('error', (error) => fail(error.message))
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
    )
  })
  request.on('error', (error: NodeJS.ErrnoException) => {
    if (signal.aborted) fail(`no answer within ${timeoutMs / 1000} seconds`)
    else if (error.code === 'ECONNREFUSED')
      fail('connection refused: is the gateway running, and is this its ops listener?')
    else fail(error.message || String(error.code))
  })
  return promise
}
