import { asked } from './forward-auth.ts'
import { startNginx } from './nginx.ts'
import { programOf, type SampleName, startProxy } from './proxy-process.ts'
import { type RawAnswer, request, sendRaw } from './raw-client.ts'
import { findNginx } from './services/find-nginx.ts'
import { findProxy } from './services/find-proxy.ts'
import { type PosternOptions, startPostern } from './start-postern.ts'
import { tokenOf } from './tokens.ts'
import { until } from './until.ts'

/** Why this program cannot be run here, if it cannot. */
export function whyNot(name: SampleName | 'nginx'): string | undefined {
  try {
    if (name === 'nginx') findNginx()
    else findProxy(programOf(name))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

export interface Sent {
  readonly as?: string
  readonly headers?: readonly string[]
  readonly host?: string
  readonly body?: string
}

/** Every path is checked, but for those below /open. */
export const usual: PosternOptions = {
  routes: [
    { path: '/', upstream: 'backend' },
    { path: '/open', upstream: 'backend', access: 'public', reason: 'a test' },
  ],
}

/** Postern, the real proxy that asks it, and the service that the proxy forwards to. */
export async function startBehind(
  name: SampleName | 'nginx',
  change?: (sample: string) => string,
  { config, ...options }: PosternOptions = usual,
) {
  const postern = await startPostern({ ...options, config: asked(config) })
  const ports = {
    postern: postern.publicPort,
    asked: postern.forwardAuthPort ?? 0,
    backend: postern.upstream.port,
  }
  const port =
    name === 'nginx'
      ? await startNginx({
          ports: {
            '127.0.0.1:8000': ports.postern,
            '127.0.0.1:9101': ports.asked,
            '127.0.0.1:8080': ports.backend,
          },
          change,
        })
      : await startProxy(name, ports, change)

  async function call(
    line: string,
    { as, headers = [], host = 'gateway.test', body = '' }: Sent = {},
  ): Promise<RawAnswer> {
    const token = as === undefined ? [] : [`Authorization: Bearer ${tokenOf(as)}`]
    const plain = request(line, [...token, ...headers], body)
    const text = plain.replace('Host: gateway.test', `Host: ${host}`)
    const bytes = Buffer.from(text, 'latin1')
    const { answers } = await sendRaw(port, bytes, { quietMs: 60_000 })
    const [answer] = answers
    if (answer === undefined) throw new Error(`no answer to ${line}`)
    return answer
  }
  // Some listen before they have read all of their configuration.
  await until(async () => {
    const host = options.routes?.some(({ hosts }) => hosts === undefined)
      ? {}
      : { host: 'open.test' }
    return (await call('GET /open/ready', host)).status === 200
  })
  return { postern, backend: postern.upstream, call, port }
}
