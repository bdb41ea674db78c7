import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, constants, loadavg, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  createDocument,
  openPolicyStore,
  type PolicyDocument,
} from '../../src/stores/policies/policy-store.ts'
import { startGatewayProcess } from '../../test/support/gateway-process.ts'
import { policyFiles } from '../../test/support/policy-files.ts'
import { startRedis } from '../../test/support/redis-server.ts'
import { testSecret, tokenOf } from '../../test/support/tokens.ts'
import type { Outcome } from '../logins/load.ts'
import { startLoadProcess, startUpstreamProcess } from '../logins/load-process.ts'
import { summary } from '../logins/outcomes.ts'
import { posternFlagsEnv } from '../run/node-flags.ts'
import { callerRole, createRules, permitted } from '../run/rules.ts'

/*
 * What taking in a large policy does to everybody else: the p99 of proxied calls while one revision
 * after the other is published, each as soon as the last is in force, against its calm value in the
 * same run. In a third phase another gateway takes in the same, and the calls go where nothing is
 * reloaded: what that does is the machine's doing, with all on the same cores, and not the gateway's.
 * With --limit 1.5, the exit code says whether the ratio is below that.
 */
const { values } = parseArgs({
  options: {
    rules: { type: 'string', default: '100000' },
    /** How many lines of a revision are in no other. */
    changed: { type: 'string', default: '1000' },
    /** Proxied calls a second. */
    rate: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '9' },
    /** Of each phase; a round has three. */
    seconds: { type: 'string', default: '4' },
    limit: { type: 'string' },
  },
})
const [rules, changed, seconds] = [values.rules, values.changed, values.seconds].map(Number) as [
  number,
  number,
  number,
]
const revisions = 4
const longestReloadMs = 30_000

function createRevisions(): readonly PolicyDocument[] {
  const kept = createRules(rules)
    .slice(0, rules - changed)
    .map(({ role, path, method }) => `${role}, ${path}, ${method}`)
  return Array.from({ length: revisions }, (_, revision) => {
    const own = Array.from(
      { length: changed },
      (_, at) => `role-${at % 50}, /api/v1/revision-${revision}/things-${at}/:id, GET`,
    )
    const about = { author: 'bench', message: '', parent: undefined, now: new Date() }
    return createDocument(policyFiles([...kept, ...own]), about)
  })
}

const documents = createRevisions()
const directory = await mkdtemp(join(tmpdir(), 'postern-bench-reloads-'))
const redis = await startRedis()
const upstream = await startUpstreamProcess()
const callers = startLoadProcess()

/** A gateway that follows policies of its own, and what publishes them. */
async function startFollower(name: string) {
  const prefix = `{${name}}:`
  const connection = { url: redis.url, prefix, connectTimeoutMs: 2000, commandTimeoutMs: 5000 }
  const store = await openPolicyStore(connection)
  let current: PolicyDocument | undefined
  let published = 0

  function next(): PolicyDocument {
    return documents[published++ % documents.length] as PolicyDocument
  }
  async function publish(next: PolicyDocument): Promise<void> {
    // One that is there already would be compared with it, rule by rule, on the cores of the gateway.
    await redis.client.del(`${prefix}policy:rev:${next.revision}`)
    const { moved } = await store.publish(next, current?.revision, { kind: 'push' })
    if (!moved) throw new Error('somebody else published')
    current = next
  }

  await publish(next())
  const config = {
    application: { host: '127.0.0.1', port: 0, dataDirectory: join(directory, name) },
    ops: { port: 0 },
    jwt: { secret: testSecret },
    // What docs/scale.md asks for with so many rules.
    redis: { url: redis.url, prefix, commandTimeoutMs: 1000 },
    policy: { source: 'redis' },
    upstreams: { backend: { targets: [`http://127.0.0.1:${upstream.port}`] } },
    routes: [{ path: '/', upstream: 'backend' }],
  }
  const file = join(directory, `${name}.yaml`)
  const gateway = await startGatewayProcess(file, config, { env: posternFlagsEnv })

  return {
    port: gateway.publicPort,
    /** Besides the one that it started with. */
    reloads: () => published - 1,
    /** Publishes one revision after the other until told to end. */
    async reload(until: AbortSignal): Promise<void> {
      while (!until.aborted) {
        const document = next()
        const { promise: late, reject } = Promise.withResolvers<never>()
        const timer = setTimeout(() => reject(new Error('a reload is late')), longestReloadMs)
        const isInForce = gateway.logged(
          ({ msg, revision }) => msg === 'policy loaded' && revision === document.revision,
        )
        await publish(document)
        await Promise.race([isInForce, late])
        clearTimeout(timer)
      }
    },
    async stop(): Promise<void> {
      await gateway.stop()
      await store.close()
    },
  }
}

const here = await startFollower('here')
const elsewhere = await startFollower('elsewhere')

// Whoever publishes does so from another machine.
setPriority(constants.priority.PRIORITY_LOW)

async function measure(): Promise<void> {
  const headers = { Authorization: `Bearer ${tokenOf(callerRole)}` }
  const shot = { port: here.port, method: 'GET', path: permitted.one, headers }
  const steady = { shot, perSecond: Number(values.rate) }
  await callers.ask({ ...steady, seconds: 3 })
  const outcomes: Outcomes = { calm: [], elsewhere: [], busy: [] }

  async function whileReloading({ reload }: typeof here): Promise<Outcome> {
    const end = new AbortController()
    const reloading = reload(end.signal)
    // It is awaited below; until then it must not end the process.
    reloading.catch(() => {})
    await pause(500)
    const outcome = await callers.ask({ ...steady, seconds })
    end.abort()
    await reloading
    return outcome
  }

  for (let round = 0; round < Number(values.rounds); round++) {
    await pause(500)
    outcomes.calm.push(await callers.ask({ ...steady, seconds }))
    const turns = [
      async () => outcomes.elsewhere.push(await whileReloading(elsewhere)),
      async () => outcomes.busy.push(await whileReloading(here)),
    ]
    // Neither is always the one right after the calm.
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn()
  }
  report(outcomes)
}

type Outcomes = Readonly<Record<'calm' | 'elsewhere' | 'busy', Outcome[]>>

function report(outcomes: Outcomes): void {
  const [calm, besides, busy] = [
    summary(outcomes.calm),
    summary(outcomes.elsewhere),
    summary(outcomes.busy),
  ]
  const toCalm = ({ milliseconds: { p99 } }: typeof calm) =>
    Math.round((p99 / calm.milliseconds.p99) * 100) / 100
  const ratio = toCalm(busy)
  const machine = { cpus: availableParallelism(), load: Math.round((loadavg()[0] ?? 0) * 10) / 10 }
  const settings = {
    rules,
    changed,
    rate: Number(values.rate),
    rounds: Number(values.rounds),
    seconds,
  }
  const reloaded = { reloads: here.reloads(), p99Ratio: ratio, proxied: busy }
  const control = { reloads: elsewhere.reloads(), p99Ratio: toCalm(besides), proxied: besides }
  const about = { benchmark: 'reloads', ...machine, ...settings }
  console.log(JSON.stringify({ ...about, calm, elsewhere: control, busy: [reloaded] }))
  if (values.limit !== undefined && ratio >= Number(values.limit)) process.exitCode = 1
}

try {
  await measure()
} finally {
  await here.stop()
  await elsewhere.stop()
  callers.stop()
  upstream.stop()
  await redis.stop()
  await rm(directory, { recursive: true, force: true })
}
