import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { createDocument, openPolicyStore } from '../../src/stores/policies/policy-store.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { createRedisRevocations } from '../../src/stores/revocations/redis-revocations.ts'
import { policyFiles } from '../../test/support/policy-files.ts'
import { startRedis } from '../../test/support/redis-server.ts'
import { startFleet } from './fleet.ts'
import { measureRedis } from './redis-figures.ts'

/*
 * What a fleet of gateways costs one Redis, and how fast it gets what is new. Feeds, reports,
 * revocations and counters are the real ones, with the connections and pauses of a gateway. There are no
 * ports, requests or databases, a few processes hold all gateways, and the network is this machine's.
 */
const { values } = parseArgs({
  options: {
    gateways: { type: 'string', default: '1000' },
    processes: { type: 'string', default: '4' },
    rules: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    /** How long Redis is down. */
    outage: { type: 'string', default: '5' },
    /** Revoked tokens in the list that every gateway reads when it comes back. */
    revoked: { type: 'string', default: '1000' },
  },
})
const gateways = Number(values.gateways)
const rules = Number(values.rules)
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const prefix = '{fleet}:'
/** A run takes minutes: what it is doing goes to standard error. */
const tell = (text: string) =>
  console.error(`${Math.round(performance.now() / 100) / 10} s: ${text}`)
const now = () => performance.timeOrigin + performance.now()

const redis = await startRedis({ args: ['--appendonly', 'yes', '--maxclients', '20000'] })
const settings = { url: redis.url, prefix, connectTimeoutMs: 30_000, commandTimeoutMs: 30_000 }
const store = await openPolicyStore(settings)
const client = createRedis(settings)
await client.connect()
const revocations = createRedisRevocations(client, settings)

/** A policy that is in no other round, and how to publish it. */
async function revisionOf(round: number) {
  const lines = Array.from(
    { length: rules },
    (_, at) => `role-${at % 40}, /api/v1/service-${at}/things/:id, GET`,
  )
  const files = policyFiles([...lines, `probe, /probe/${round}, GET`])
  const parent = (await store.head())?.revision
  const document = createDocument(files, { author: 'bench', message: '', parent, now: new Date() })
  return {
    document,
    revision: document.revision,
    publish: () => store.publish(document, parent, { kind: 'push' }),
  }
}

function revoke(ids: readonly string[]): Promise<void> {
  const issuedAt = Date.now()
  const until = issuedAt + 3_600_000
  return revocations.append(
    ids.map((id) => ({ kind: 'token', id, userId: id, issuedAt, until })),
    'before',
  )
}

/** Milliseconds from a moment to each of these: the middle one, and the last. */
function delays(from: number, times: readonly number[]) {
  const at = (index: number) => Math.round((times[index] ?? 0) - from)
  return { median: at(Math.floor(times.length / 2)), last: at(times.length - 1) }
}

await (await revisionOf(0)).publish()
const beginning = Array.from({ length: Number(values.revoked) }, (_, at) => `old-${at}`)
for (let at = 0; at < beginning.length; at += 1000) await revoke(beginning.slice(at, at + 1000))

tell(`starting ${gateways} gateways`)
const from = performance.now()
const fleet = await startFleet({
  url: redis.url,
  prefix,
  gateways,
  processes: Number(values.processes),
  onStarted: (count) => void (count % 100 === 0 && tell(`${count} gateways run`)),
})
const startSeconds = Math.round((performance.now() - from) / 100) / 10
await pause(seconds * 300)

tell('idle')
const idleOf = await measureRedis(redis.client)
await pause(seconds * 1000)
const idle = await idleOf()
const reporting = (await store.replicas()).length

tell('policies and revocations')
const policies: { median: number; last: number }[] = []
const revoked: { median: number; last: number }[] = []
for (let round = 1; round <= rounds; round++) {
  const { revision, publish } = await revisionOf(round)
  const taken = fleet.reached('policy', revision)
  const start = now()
  await publish()
  policies.push(delays(start, await taken))
  const id = `token-${round}`
  const reached = fleet.reached('revoked', id)
  const said = now()
  await revoke([id])
  revoked.push(delays(said, await reached))
}

tell('counters')
const countingOf = await measureRedis(redis.client)
await fleet.count(seconds)
const counting = await countingOf()

/** The longest answer and the most connections opened in a tenth of a second. */
async function watchRestart(until: Promise<unknown>) {
  const probe = new Redis({ port: redis.port, host: '127.0.0.1', protocol: 2 })
  probe.on('error', () => {})
  const peaks = { answerMs: 0, connectionsIn100Ms: 0 }
  let isOver = false
  void until.finally(() => {
    isOver = true
  })
  let opened = 0
  let at = performance.now()
  while (!isOver) {
    const asked = performance.now()
    const text = await probe.info('stats')
    peaks.answerMs = Math.max(peaks.answerMs, Math.round(performance.now() - asked))
    const total = Number(/total_connections_received:(\d+)/.exec(text)?.[1] ?? 0)
    const share = (total - opened) / Math.max(1, (performance.now() - at) / 100)
    peaks.connectionsIn100Ms = Math.max(peaks.connectionsIn100Ms, Math.round(share))
    opened = total
    at = performance.now()
    await pause(100)
  }
  probe.disconnect()
  return peaks
}

/** Kills Redis for a while; then how long until every gateway has its policy and the whole list of revoked tokens. */
async function restart(isEmpty: boolean) {
  const next = isEmpty ? await revisionOf(rounds + 1) : undefined
  tell(`Redis is killed${isEmpty ? ', and its data lost' : ''}`)
  const watching = fleet.lost()
  if (isEmpty) {
    await redis.client.config('SET', 'appendfsync', 'always')
    await redis.client.flushall()
  }
  await redis.kill()
  const { current } = await watching
  tell('every gateway has noticed')
  await pause(Number(values.outage) * 1000)
  // From the start of its process: it takes connections before it is known to.
  const back = now()
  tell('Redis is started again')
  await redis.start()
  const cpuOf = await measureRedis(redis.client)
  const all = current()
  // A policy that is lost with Redis is pushed again by people.
  if (next !== undefined) {
    while ((await store.replicas().catch(() => [])).length === 0) await pause(50)
    await store.publish(next.document, undefined, { kind: 'push' })
  }
  const peaks = await watchRestart(all)
  const result = { ...delays(back, await all), ...peaks }
  // Those that went on from where they were compare the whole list within five seconds.
  await pause(Math.max(0, 6000 - result.last))
  return { ...result, redis: await cpuOf() }
}

const restarted = await restart(false)
const emptied = await restart(true)

console.log(
  JSON.stringify({
    benchmark: 'fleet',
    gateways,
    rules,
    reporting,
    startSeconds,
    fleetRssMb: fleet.rssMb,
    idle,
    policyMs: policies,
    revocationMs: revoked,
    counting,
    restart: restarted,
    emptied,
    revoked: beginning.length,
    processes: Number(values.processes),
    cpus: availableParallelism(),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  }),
)
await fleet.stop()
await store.close()
await client.close()
await redis.stop()
