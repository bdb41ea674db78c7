import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { loneGatewayConfig } from './lone-gateway-config.ts'

/** A service whose responses say who it is, what it got, and by which configuration. */
export async function startMarkedService(name: string) {
  let accepted = 0
  let open = 0
  const server = createServer((incoming, reply) => {
    let bytes = 0
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    incoming.on('end', () => {
      const marks = ['a', 'b'].filter((mark) => incoming.headers[`x-id-${mark}`] !== undefined)
      reply.end(JSON.stringify({ name, marks, bytes }))
    })
  })
  server.keepAliveTimeout = 600_000
  server.on('connection', (socket) => {
    accepted++
    open++
    socket.on('close', () => open--)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, accepted: () => accepted, open: () => open }
}

/** Everything that tells the configurations apart carries the mark. */
export function marked(directory: string, mark: string, own: string, shared: string) {
  const open = { access: 'public', reason: 'test' }
  return loneGatewayConfig(directory, own, {
    upstreams: { [`own-${mark}`]: { targets: [own] }, shared: { targets: [shared] } },
    routes: [
      { path: '/', upstream: `own-${mark}`, ...open },
      { path: '/shared', upstream: 'shared', ...open },
    ],
    headers: { requestId: `X-Id-${mark}` },
    cors: { origins: ['https://app.test'], exposeHeaders: [`X-${mark}`] },
    logger: { level: 'silent' },
  })
}

interface Seen {
  /** How many requests each configuration served. */
  readonly marks: ReadonlyMap<string, number>
  /** Requests that failed, or that a mixture of configurations served. */
  readonly wrong: readonly unknown[]
}

/** Six clients, two of them with uploads, without a pause until they are stopped. */
export function startMarkedLoad(port: number): { readonly stop: () => Promise<Seen> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  onTestFinished(() => agent.destroy())
  const marks = new Map<string, number>()
  const wrong: unknown[] = []
  let isDone = false

  async function call(path: string, body: Buffer | undefined) {
    const outgoing = request({
      agent,
      port,
      host: '127.0.0.1',
      path,
      method: body === undefined ? 'GET' : 'POST',
      headers: { origin: 'https://app.test', ...(body && { 'content-length': body.length }) },
    })
    // In two parts, so that a reload comes between them.
    outgoing.write(body?.subarray(0, 100_000) ?? '')
    if (body !== undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    outgoing.end(body?.subarray(100_000))
    const [answer] = await once(outgoing, 'response')
    let text = ''
    for await (const chunk of answer) text += chunk
    const exposed = answer.headers['access-control-expose-headers']
    return { status: answer.statusCode, exposed, text }
  }
  async function client(path: string, body: Buffer | undefined): Promise<void> {
    while (!isDone) {
      const { status, exposed, text } = await call(path, body)
      const { name, marks: sent, bytes } = status === 200 ? JSON.parse(text) : {}
      const mark = String(sent)
      const isOne = exposed === `X-${mark}` && (name === mark || name === 's')
      if (status !== 200 || !isOne || bytes !== (body?.length ?? 0)) {
        wrong.push({ status, exposed, text })
      }
      marks.set(mark, (marks.get(mark) ?? 0) + 1)
    }
  }

  const upload = Buffer.alloc(200_000)
  const clients = ['/x', '/y', '/shared/x', '/shared/y'].map((path) => client(path, undefined))
  clients.push(client('/upload', upload), client('/shared/upload', upload))
  return {
    async stop() {
      isDone = true
      await Promise.all(clients)
      return { marks, wrong }
    },
  }
}
