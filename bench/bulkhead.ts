import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import { testSecret, tokenOf } from '../test/support/tokens.ts'
import type { Order, Outcome } from './logins/load.ts'

/*
 * T216: what a dead upstream does to the calls of another. The p99 of proxied calls to a service
 * that is well, in turn: calm; with more calls to itself; with as many to an upstream that takes
 * connections and never answers; with as many to one that refuses them. Each round has its own
 * p99, of which the median counts. With --limit, the exit code says whether no dead upstream costs
 * more than so many times what the same calls to one that is well cost.
 */
const { values } = parseArgs({
  options: {
    /** Timed calls a second, and calls a second beside them. */
    rate: { type: 'string', default: '200' },
    beside: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '4' },
    limit: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const phases = { calm: undefined, refusing: '/refuses', well: '/more', hanging: '/hangs' } as const

const directory = await mkdtemp(join(tmpdir(), 'postern-bench-bulkhead-'))
const files = ['upstream.ts', 'load.ts', 'load.ts']
const children = files.map((file) => fork(join(import.meta.dirname, 'logins', file)))
const [upstream, callers, others] = children as [ChildProcess, ChildProcess, ChildProcess]
let connections = 0
const hanging = createServer((socket) => {
  connections++
  socket.on('error', () => {})
  socket.resume()
})
hanging.listen(0, '127.0.0.1')
const [[wellPort]] = (await Promise.all([
  once(upstream, 'message'),
  once(hanging, 'listening'),
])) as [[number], unknown]
const origin = (port: number) => `http://127.0.0.1:${port}`
const gateway = await startGatewayProcess(join(directory, 'postern.yaml'), {
  application: { host: '127.0.0.1', port: 0, dataDirectory: join(directory, 'data') },
  ops: { port: 0 },
  jwt: { secret: testSecret },
  database: { url: 'postgres://nobody@127.0.0.1:9/none', migrate: 'never' },
  policy: { directory: join(process.cwd(), 'policies') },
  upstreams: {
    well: { targets: [origin(wellPort)] },
    hangs: { targets: [origin((hanging.address() as AddressInfo).port)], headersTimeoutMs: 2000 },
    refuses: { targets: [origin(9)] },
  },
  routes: [
    { path: '/', upstream: 'well' },
    { path: '/hangs', upstream: 'hangs' },
    { path: '/refuses', upstream: 'refuses' },
  ],
})

async function ask(child: ChildProcess, order: Order): Promise<Outcome> {
  child.send(order)
  const [outcome] = (await once(child, 'message')) as [Outcome]
  return outcome
}

function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

const rounded = (number: number) => Math.round(number * 100) / 100

try {
  const headers = { Authorization: `Bearer ${tokenOf('admin')}` }
  const shot = { port: gateway.publicPort, method: 'GET', headers }
  const timed = { shot: { ...shot, path: '/timed' }, perSecond: Number(values.rate) }
  const beside = Number(values.beside)
  await ask(callers, { ...timed, seconds: 3 })

  const p99s = new Map<string, number[]>()
  let failed = 0
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [name, path] of Object.entries(phases)) {
      const order = { shot: { ...shot, path: path ?? '' }, seconds: seconds + 1, perSecond: beside }
      const busy = path === undefined ? undefined : ask(others, order)
      await pause(500)
      const { milliseconds, bad } = await ask(callers, { ...timed, seconds })
      p99s.set(name, [...(p99s.get(name) ?? []), percentile(milliseconds, 0.99)])
      failed += bad
      await busy
    }
  }
  const p99 = (name: keyof typeof phases) => percentile(p99s.get(name) ?? [], 0.5)
  const ratios = {
    hanging: rounded(p99('hanging') / p99('well')),
    refusing: rounded(p99('refusing') / p99('well')),
  }
  console.log(
    JSON.stringify({
      benchmark: 'bulkhead',
      cpus: availableParallelism(),
      load: rounded(loadavg()[0] ?? 0),
      ...{ rate: Number(values.rate), beside, rounds: Number(values.rounds), seconds },
      p99: Object.fromEntries([...p99s].map(([name, each]) => [name, each.map(rounded)])),
      ratios,
      failed,
      connectionsToHanging: connections,
    }),
  )
  const worst = Math.max(...Object.values(ratios))
  if (failed > 0 || (values.limit !== undefined && worst > Number(values.limit))) {
    process.exitCode = 1
  }
} finally {
  await gateway.stop()
  for (const child of children) child.kill()
  hanging.close()
  await rm(directory, { recursive: true, force: true })
  process.exit()
}
