import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startGatewayProcess } from './gateway-process.ts'
import { loneGatewayConfig } from './lone-gateway-config.ts'
import { freePort, startRedis } from './redis-server.ts'
import { createServiceClient, type Endpoint, type ServiceClient } from './service-client.ts'
import { tokenOf } from './tokens.ts'

export interface RestartOptions {
  readonly restarts: number
  readonly perSecond: number
  /** Of each gateway; 1 unless told. With more they share a Redis. */
  readonly workers?: number
  readonly shutdown?: Readonly<Record<string, number>>
  readonly onProgress?: (progress: RestartResult) => void
  /** Whether they take HTTP/2 in the clear. */
  readonly h2c?: boolean
  /** Whether proxies may ask them. */
  readonly forwardAuth?: boolean
  /** Who calls; by default a client of a Kubernetes Service. `service` is what the gateways forward to. */
  readonly client?: (
    endpoints: readonly Endpoint[],
    service: { readonly port: number },
  ) => Promise<ServiceClient>
}

export interface RestartResult {
  readonly restarts: number
  readonly exitCodes: readonly (number | null)[]
  /** Calls by kind, and of these those that were not answered in full. */
  readonly calls: Readonly<Record<string, number>>
  readonly failed: Readonly<Record<string, number>>
  readonly reasons: readonly string[]
}

export const authorization = { Authorization: `Bearer ${tokenOf('admin')}` }

/** By turns: reading and writing, fast, slow, and slower than the grace. */
const kinds = [
  { method: 'GET', path: '/fast' },
  { method: 'POST', path: '/fast', body: 'x'.repeat(1024) },
  { method: 'GET', path: '/fast/2' },
  { method: 'POST', path: '/slow/200', body: 'y'.repeat(100) },
  { method: 'GET', path: '/slow/300' },
  { method: 'PUT', path: '/fast', body: 'z' },
  { method: 'GET', path: '/fast/3' },
  { method: 'DELETE', path: '/fast' },
  { method: 'GET', path: '/fast/4' },
  { method: 'GET', path: '/slow/900' },
] as const

/**
 * Two gateways in processes of their own under a steady load, restarted in turn by SIGTERM. What
 * they are sent does not wait for what was answered, as long as the machine can follow.
 */
export async function rollingRestarts(options: RestartOptions): Promise<RestartResult> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-restarts-'))
  const service = await startService()
  const { workers = 1 } = options
  const redis = workers > 1 ? await startRedis() : undefined
  const start = async ({ publicPort, opsPort, forwardAuthPort }: Endpoint) => {
    const config = loneGatewayConfig(directory, service.origin, {
      application: {
        host: '127.0.0.1',
        port: publicPort,
        dataDirectory: join(directory, 'data'),
        workers,
        h2c: options.h2c ?? false,
        ...(forwardAuthPort !== undefined && { trustedProxies: ['127.0.0.1'] }),
      },
      ops: { port: opsPort },
      // It is not to be about overload, on a busy machine either.
      overload: { loopDelayMs: 600_000 },
      ...(forwardAuthPort !== undefined && {
        forwardAuth: { enabled: true, port: forwardAuthPort },
      }),
      ...(redis && { redis: { url: redis.url } }),
      ...(options.shutdown && { shutdown: options.shutdown }),
    })
    return startGatewayProcess(join(directory, `${publicPort}.yaml`), config)
  }
  const endpoints = await Promise.all([0, 1].map(() => freeEndpoint(options.forwardAuth ?? false)))
  const gateways = await Promise.all(endpoints.map(start))
  const client =
    (await options.client?.(endpoints, service)) ?? createServiceClient(endpoints, authorization)
  await Promise.all(endpoints.map(client.inRotation))

  const load = startLoad(client, options.perSecond)
  const exitCodes: (number | null)[] = []
  const result = () => ({ restarts: exitCodes.length, exitCodes: [...exitCodes], ...load.counts() })
  try {
    for (let turn = 0; turn < options.restarts; turn++) {
      const at = turn % 2
      exitCodes.push((await gateways[at]?.stop()) ?? null)
      const endpoint = endpoints[at] as Endpoint
      gateways[at] = await start(endpoint)
      await client.inRotation(endpoint)
      await pause(200)
      options.onProgress?.(result())
    }
    await load.stop()
    return result()
  } finally {
    await load.stop()
    client.close()
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    service.close()
    await redis?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function freeEndpoint(forwardAuth: boolean): Promise<Endpoint> {
  const ports = { publicPort: await freePort(), opsPort: await freePort() }
  return forwardAuth ? { ...ports, forwardAuthPort: await freePort() } : ports
}

/** Says back how much it was sent, after the time that the path names. */
async function startService() {
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, reply) => {
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
    })
    request.on('end', () => {
      const slow = /^\/slow\/(\d+)$/.exec(request.url ?? '')
      setTimeout(() => reply.end(`${request.method} ${length}`), Number(slow?.[1] ?? 0))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const tickMs = 10
/** Fewer than a gateway has connections to one target: it is not to be about overload. */
const mostOpen = 128

function startLoad(client: ServiceClient, perSecond: number) {
  const calls: Record<string, number> = {}
  const failed: Record<string, number> = {}
  const reasons: string[] = []
  const open = new Set<Promise<void>>()
  const startedAt = performance.now()
  let sent = 0

  async function call(kind: (typeof kinds)[number]): Promise<void> {
    const body = 'body' in kind ? kind.body : ''
    calls[kind.method] = (calls[kind.method] ?? 0) + 1
    try {
      const answer = await client.call(kind)
      if (answer !== `${kind.method} ${body.length}`) throw new Error(`answered ${answer}`)
    } catch (error) {
      failed[kind.method] = (failed[kind.method] ?? 0) + 1
      const { message, code = '' } = error as NodeJS.ErrnoException
      if (reasons.length < 20) reasons.push(`${kind.method} ${kind.path}: ${message} ${code}`)
    }
  }

  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    // Never more at once than a tenth of a second has: a pause of ours is no burst for them.
    if (due - sent > perSecond / 10) sent = Math.floor(due - perSecond / 10)
    for (; sent < due; sent++) {
      if (open.size >= mostOpen) return
      const one = call(kinds[sent % kinds.length] ?? kinds[0]).finally(() => open.delete(one))
      open.add(one)
    }
  }, tickMs)

  return {
    counts: () => ({ calls: { ...calls }, failed: { ...failed }, reasons: [...reasons] }),
    async stop() {
      clearInterval(timer)
      await Promise.all(open)
    },
  }
}
