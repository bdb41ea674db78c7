import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  createDocument,
  openPolicyStore,
  type PolicyDocument,
} from '../src/stores/policies/policy-store.ts'
import { type GatewayProcess, startGatewayProcess } from '../test/support/gateway-process.ts'
import { policyFiles } from '../test/support/policy-files.ts'
import { startRedis } from '../test/support/redis-server.ts'
import { testSecret, tokenOf } from '../test/support/tokens.ts'

/*
 * How long from the publication of a policy until the last of several gateways, each a process,
 * has decided by it. Each is asked, as soon as its log says that the policy is in force, for what
 * only that policy allows: asking over and over would measure the load that this makes.
 */
const { values } = parseArgs({
  options: {
    rules: { type: 'string', default: '10000' },
    replicas: { type: 'string', default: '5' },
    publishes: { type: 'string', default: '200' },
    /** How many different calls the rules are about: every role has rules for all of them. */
    endpoints: { type: 'string', default: '250' },
  },
})
const rules = Number(values.rules)
const replicas = Number(values.replicas)
const publishes = Number(values.publishes)
const endpoints = Number(values.endpoints)
const warmUps = 5
const prefix = '{bench}:'

const headers = { Authorization: `Bearer ${tokenOf('probe')}` }
const agent = new Agent({ keepAlive: true, maxSockets: replicas })

const actions = [
  ['', 'GET'],
  ['', 'POST'],
  ['/:id', 'GET'],
  ['/:id', 'PUT'],
  ['/:id', 'DELETE'],
] as const

/** Roles times endpoints, as an admin product has them, and one rule that is in no other revision. */
function revisionWith(probe: number, parent: string | undefined): PolicyDocument {
  const lines = Array.from({ length: rules - 1 }, (_, at) => {
    const endpoint = at % endpoints
    const [suffix, method] = actions[endpoint % actions.length] ?? actions[0]
    const path = `/api/v1/service-${Math.floor(endpoint / actions.length)}/things${suffix}`
    return `role-${Math.floor(at / endpoints)}, ${path}, ${method}`
  })
  const files = policyFiles([...lines, `probe, /probe/${probe}, GET`])
  return createDocument(files, { author: 'bench', message: '', parent, now: new Date() })
}

function isAllowed(port: number, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    get({ port, path, headers, agent, host: '127.0.0.1' }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve(text === 'ok'))
    }).on('error', reject)
  })
}

async function decidesBy(
  { publicPort, logged }: GatewayProcess,
  { revision, path }: { readonly revision: string; readonly path: string },
): Promise<void> {
  await logged((line) => line['msg'] === 'policy loaded' && line['revision'] === revision)
  while (!(await isAllowed(publicPort, path))) await pause(1)
}

function percentile(sorted: readonly number[], share: number): number {
  const at = Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)
  return Math.round((sorted[at] ?? 0) * 10) / 10
}

const directory = await mkdtemp(join(tmpdir(), 'postern-bench-'))
const upstream = createServer((_, answer) => void answer.end('ok')).listen(0, '127.0.0.1')
const redis = await startRedis()
const gateways: GatewayProcess[] = []
const store = await openPolicyStore({
  url: redis.url,
  prefix,
  connectTimeoutMs: 2000,
  commandTimeoutMs: 2000,
})
try {
  let current = revisionWith(0, undefined)
  await store.publish(current, undefined, { kind: 'push' })
  const { port } = upstream.address() as AddressInfo
  for (let index = 0; index < replicas; index++) {
    const config = {
      application: { host: '127.0.0.1', port: 0, dataDirectory: join(directory, 'data') },
      ops: { port: 0 },
      jwt: { secret: testSecret },
      redis: { url: redis.url, prefix },
      policy: { source: 'redis' },
      upstreams: { backend: { targets: [`http://127.0.0.1:${port}`] } },
      routes: [{ path: '/', upstream: 'backend' }],
    }
    gateways.push(await startGatewayProcess(join(directory, `${index}.yaml`), config))
  }

  const times: number[] = []
  for (let round = 1; round <= warmUps + publishes; round++) {
    const next = revisionWith(round, current.revision)
    const { revision } = next
    const path = `/probe/${round}`
    const waiting = gateways.map((gateway) => decidesBy(gateway, { revision, path }))
    await pause(200)
    const start = performance.now()
    const { moved } = await store.publish(next, current.revision, { kind: 'push' })
    if (!moved) throw new Error('somebody else published')
    await Promise.all(waiting)
    if (round > warmUps) times.push(performance.now() - start)
    current = next
  }

  const sorted = times.toSorted((one, other) => one - other)
  const result = {
    benchmark: 'propagation',
    rules,
    endpoints,
    replicas,
    publishes,
    cpus: availableParallelism(),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    milliseconds: {
      p50: percentile(sorted, 0.5),
      p90: percentile(sorted, 0.9),
      p99: percentile(sorted, 0.99),
      max: percentile(sorted, 1),
    },
  }
  console.log(JSON.stringify(result))
} finally {
  await Promise.all(gateways.map((gateway) => gateway.stop()))
  await store.close()
  await redis.stop()
  agent.destroy()
  upstream.close()
  await rm(directory, { recursive: true, force: true })
}
