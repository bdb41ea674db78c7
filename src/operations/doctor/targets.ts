import { once } from 'node:events'
import { resolve } from 'node:path'
import { TLSSocket } from 'node:tls'
import { withTimeout } from '../../background/with-timeout.ts'
import { urlOf } from '../../config/checks/forwarding/upstreams.ts'
import type { Config } from '../../config/schema/schema.ts'
import { Invalid } from '../../kernel/errors.ts'
import { readClientContext } from '../../kernel/pem-files.ts'
import { createConnector, type TargetTls } from '../../wire/connect.ts'
import { connectionFailure } from './connection-fix.ts'
import { reportCertificate } from './expiry.ts'
import type { Report } from './run-checks.ts'

type Upstream = Config['upstreams'][string]

/**
 * Connects to every target of an upstream, with TLS as requests do, and sends no request. While one
 * target accepts connections, the others only reduce its capacity.
 */
export async function checkUpstream(
  report: Report,
  setting: string,
  upstream: Upstream,
  cwd: string,
): Promise<void> {
  const tls = await readTls(upstream, cwd)
  // The check of the files reports them.
  if (tls === 'unusable') return
  const tried = await Promise.all(
    upstream.targets
      .flatMap((target) => urlOf(target) ?? [])
      .map(async (url) => {
        try {
          return { url, expires: await connect(url, tls, upstream) }
        } catch (error) {
          return { url, error }
        }
      }),
  )
  const isDown = tried.every((each) => 'error' in each)
  for (const each of tried) {
    if ('error' in each) {
      const { reason, fix } = connectionFailure(each.error, {
        server: 'the service',
        address: `${setting}.targets`,
        trust: `set ${setting}.tls.caFile to the certificate of the authority that signed it`,
      })
      report[isDown ? 'problem' : 'warning'](`${each.url} cannot be reached: ${reason}`, fix)
      continue
    }
    const message = `${each.url} accepts connections`
    if (each.expires === undefined) report.ok(message)
    else {
      const fix = 'renew the certificate of the service'
      reportCertificate(report, `${message}, certificate`, each.expires, fix)
    }
  }
}

async function readTls(
  { tls }: Upstream,
  cwd: string,
): Promise<TargetTls | undefined | 'unusable'> {
  if (tls === undefined) return undefined
  const at = (file: string | undefined) => (file === undefined ? undefined : resolve(cwd, file))
  const { caFile, certFile, keyFile, serverName } = tls
  const files = { caFile: at(caFile), certFile: at(certFile), keyFile: at(keyFile) }
  try {
    return { secureContext: await readClientContext(files), serverName }
  } catch (error) {
    if (error instanceof Invalid) return 'unusable'
    throw error
  }
}

/** The protocols that requests offer in TLS. */
const offered = { http1: ['http/1.1'], h2: ['h2'], h2c: [], auto: ['h2', 'http/1.1'] }

/** When its certificate expires; `undefined` without TLS. */
async function connect(
  url: string,
  tls: TargetTls | undefined,
  { protocol, connectTimeoutMs }: Upstream,
): Promise<Date | undefined> {
  const { readyEvent, open } = createConnector(new URL(url), undefined, tls, {
    alpn: offered[protocol],
  })
  const socket = open()
  try {
    await withTimeout(connectTimeoutMs, once(socket, readyEvent))
    if (!(socket instanceof TLSSocket)) return undefined
    if (protocol === 'h2' && socket.alpnProtocol !== 'h2') {
      throw new Error('it does not offer HTTP/2 in TLS (ALPN)')
    }
    return new Date(socket.getPeerCertificate().valid_to)
  } finally {
    socket.on('error', () => {})
    socket.destroy()
  }
}
