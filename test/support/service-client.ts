import { Agent, request as send } from 'node:http'
import { connect } from 'node:net'

/** One process behind a service: where it takes calls, and where it says that it is ready. */
export interface Endpoint {
  readonly publicPort: number
  readonly opsPort: number
  /** Where proxies ask it, if they may. */
  readonly forwardAuthPort?: number
}

export interface ServiceClient {
  /** One call. Throws unless it is answered with 200. */
  call(options: { method: string; path: string; body?: string }): Promise<string>
  /** Resolves when this one is in rotation. */
  inRotation(endpoint: Endpoint): Promise<void>
  close(): void
}

const pollMs = 100

/**
 * A client of a Kubernetes Service: each new connection goes to one of the endpoints that were ready
 * when they were last asked, and is then kept and used, whatever becomes of the endpoint's readiness.
 * It never sends a call a second time.
 */
export function createServiceClient(
  endpoints: readonly Endpoint[],
  headers: Readonly<Record<string, string>>,
): ServiceClient {
  const ready = new Set<Endpoint>()
  const waiting = new Map<Endpoint, () => void>()
  let turn = 0
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 1000 })
  // What the rules of a node do: the client knows one address only.
  agent.createConnection = () => {
    const all = [...ready]
    const { publicPort } = all[turn++ % all.length] ?? { publicPort: 9 }
    return connect({ port: publicPort, host: '127.0.0.1', noDelay: true })
  }

  async function poll(endpoint: Endpoint): Promise<void> {
    const probe = fetch(`http://127.0.0.1:${endpoint.opsPort}/readyz`)
    const isReady = await probe.then(({ ok }) => ok).catch(() => false)
    if (!isReady) ready.delete(endpoint)
    else {
      ready.add(endpoint)
      waiting.get(endpoint)?.()
      waiting.delete(endpoint)
    }
  }
  const timer = setInterval(() => endpoints.forEach((each) => void poll(each)), pollMs)

  return {
    call: ({ method, path, body = '' }) =>
      new Promise((resolve, reject) => {
        const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
        const call = send({ agent, method, path, headers: { ...headers, ...length } }, (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('error', reject)
          answer.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            if (answer.statusCode === 200) resolve(text)
            else reject(new Error(`${answer.statusCode} ${text.slice(0, 200)}`))
          })
        })
        call.on('error', (error) => {
          const kept = call.reusedSocket ? 'on a kept connection' : 'on a new connection'
          reject(new Error(`${error.message}, ${kept}`))
        })
        call.setTimeout(20_000, () => void call.destroy(new Error('no answer within 20 s')))
        call.end(body)
      }),
    inRotation(endpoint) {
      return ready.has(endpoint)
        ? Promise.resolve()
        : new Promise((resolve) => waiting.set(endpoint, resolve))
    },
    close() {
      clearInterval(timer)
      agent.destroy()
    },
  }
}
