import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { startGatewayProcess } from '../../test/support/gateway-process.ts'
import { policyFiles } from '../../test/support/policy-files.ts'
import { startPostgres } from '../../test/support/postgres-server.ts'
import { testSecret, tokenOf } from '../../test/support/tokens.ts'
import type { Outcome } from './load.ts'
import { startLoadProcess, startUpstreamProcess } from './load-process.ts'
import { summary } from './outcomes.ts'

/*
 * What password hashing does to everybody else: the p99 of proxied calls while people log in,
 * against its calm value in the same run. Gateway, upstream, proxied calls and logins are each a
 * process. Calm and busy phases take turns, and each round has its own p99, of which the median
 * counts: what else the machine has to do would decide the p99 of all rounds together.
 * With --limit 2, the exit code says whether both ratios are below that.
 */
const { values } = parseArgs({
  options: {
    /** Proxied calls a second. */
    rate: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '9' },
    /** Of each phase; a round has three. */
    seconds: { type: 'string', default: '4' },
    /** Logins always under way in the first busy phase (0: no such phase), a second in the other. */
    concurrency: { type: 'string', default: '40' },
    logins: { type: 'string', default: '20' },
    limit: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
interface Flood {
  readonly concurrency?: number
  readonly perSecond?: number
}

const phases: Readonly<Record<string, Flood | undefined>> = {
  calm: undefined,
  ...(values.concurrency !== '0' && {
    [`${values.concurrency} at once`]: { concurrency: Number(values.concurrency) },
  }),
  [`${values.logins} a second`]: { perSecond: Number(values.logins) },
}

const many = 1_000_000
const username = 'bench'
const password = 'a password for this run'
const directory = await mkdtemp(join(tmpdir(), 'postern-bench-logins-'))
const postgres = await startPostgres()
const upstream = await startUpstreamProcess()
const [callers, people] = [startLoadProcess(), startLoadProcess()]

async function startGateway() {
  const policies = join(directory, 'policies')
  await mkdir(policies)
  for (const { name, text } of policyFiles(['clerk, /orders/:id, GET'])) {
    await writeFile(join(policies, name), text)
  }
  const config = {
    application: { mode: 'dev', host: '127.0.0.1', port: 0, dataDirectory: directory },
    ops: { port: 0 },
    logger: { enableddb: true },
    jwt: { secret: testSecret },
    database: { url: postgres.url },
    // The limits on guessing would end the logins before they cost anything.
    login: { perAddressPerMinute: many, failuresPerAccount: many, failuresPerPair: many },
    policy: { directory: policies },
    upstreams: { backend: { targets: [`http://127.0.0.1:${upstream.port}`] } },
    routes: [{ path: '/', upstream: 'backend' }],
  }
  const file = join(directory, 'postern.yaml')
  await writeFile(file, stringify(config))
  const add = ['user', 'add', username, '--role', 'viewer', '--password-stdin', '--config', file]
  const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')
  // What configures the tests would be refused as an unknown setting of the gateway.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_')),
  )
  execFileSync(process.execPath, [main, ...add], { input: password, stdio: 'pipe', env })
  return startGatewayProcess(file, config)
}

async function measure(port: number): Promise<void> {
  const calls = { headers: { Authorization: `Bearer ${tokenOf('clerk')}` }, path: '/orders/7' }
  const call = { port, method: 'GET', ...calls }
  const body = JSON.stringify({ username, password, uuid: '-', code: '-' })
  const json = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }
  const login = { port, method: 'POST', path: '/api/v1/login', headers: json, body }
  const steady = { shot: call, perSecond: Number(values.rate) }
  await callers.ask({ ...steady, seconds: 3 })
  await people.ask({ shot: login, seconds: 1, perSecond: 5 })

  const proxied = new Map<string, Outcome[]>()
  const logins = new Map<string, Outcome[]>()
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [name, flood] of Object.entries(phases)) {
      const busy = flood && people.ask({ shot: login, seconds: seconds + 1, ...flood })
      // The logins are under way before the calls are timed, and go on until after them.
      await pause(500)
      proxied.set(name, [...(proxied.get(name) ?? []), await callers.ask({ ...steady, seconds })])
      if (busy) logins.set(name, [...(logins.get(name) ?? []), await busy])
      await pause(500)
    }
  }
  report(proxied, logins)
}

function report(
  proxied: ReadonlyMap<string, readonly Outcome[]>,
  logins: ReadonlyMap<string, readonly Outcome[]>,
): void {
  const calm = summary(proxied.get('calm') ?? [])
  const busy = [...logins].map(([name, outcomes]) => {
    const calls = summary(proxied.get(name) ?? [])
    const ratio = Math.round((calls.milliseconds.p99 / calm.milliseconds.p99) * 100) / 100
    return { logins: name, p99Ratio: ratio, proxied: calls, loggedIn: summary(outcomes) }
  })
  const machine = { cpus: availableParallelism(), load: Math.round((loadavg()[0] ?? 0) * 10) / 10 }
  const settings = { rate: Number(values.rate), rounds: Number(values.rounds), seconds }
  console.log(JSON.stringify({ benchmark: 'logins', ...machine, ...settings, calm, busy }))
  if (values.limit === undefined) return
  const isBelow = busy.every(({ p99Ratio }) => p99Ratio < Number(values.limit))
  if (!isBelow) process.exitCode = 1
}

const gateway = await startGateway()
try {
  await measure(gateway.publicPort)
} finally {
  await gateway.stop()
  for (const child of [upstream, callers, people]) child.stop()
  await postgres.stop()
  await rm(directory, { recursive: true, force: true })
}
