import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type CrewProcess, isAlive, startCrew } from '../support/crew-process.ts'
import { metricOf } from '../support/gateway-metrics.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { freePort } from '../support/redis-server.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { useWorkerStores } from '../support/worker-stores.ts'

const stores = useWorkerStores()

/** Far more than any deadline here: whoever has heard nothing by then hears nothing at all. */
const hungMs = 15_000

type Outcome = 'answered' | 'refused' | 'closed' | 'hung'

/** One request on a connection of its own. */
async function outcomeOf(port: number, line: string): Promise<Outcome> {
  const fields = [`Authorization: Bearer ${tokenOf('admin')}`, 'Connection: close']
  const body = line.startsWith('POST') ? '{}' : ''
  const length = body === '' ? [] : [`Content-Length: ${body.length}`]
  const bytes = Buffer.from(request(line, [...fields, ...length], body), 'latin1')
  try {
    const { answers, closed } = await sendRaw(port, bytes, { quietMs: hungMs })
    if (answers[0]?.status === 200) return 'answered'
    return closed ? 'closed' : 'hung'
  } catch {
    return 'refused'
  }
}

/** Calls without pause, on new connections, until it is stopped. Counts what came of each call. */
function startLoad(port: number, lanes = 8) {
  const outcomes: Record<Outcome, number> = { answered: 0, refused: 0, closed: 0, hung: 0 }
  let stopped = false
  const lane = async (_: unknown, at: number) => {
    while (!stopped) {
      const outcome = await outcomeOf(port, at % 2 === 0 ? 'GET /a' : 'POST /a')
      outcomes[outcome]++
      // A refused connection costs nothing; without a pause it would cost the others their turn.
      if (outcome !== 'answered') await pause(10)
    }
  }
  const running = Promise.all(Array.from({ length: lanes }, lane))
  return {
    outcomes,
    async stop() {
      stopped = true
      await running
      return outcomes
    },
  }
}

async function crewWith(
  config: Record<string, Record<string, unknown>>,
): Promise<CrewProcess & { readonly pids: readonly [number, number] }> {
  const crew = await startCrew(stores(), {
    config: { ...config, application: { port: await freePort() } },
  })
  onTestFinished(crew.clear)
  const [first = 0, second = 0] = [...(await crew.workerPids()).values()]
  return { ...crew, pids: [first, second] }
}

test('the only worker that listens, told to end, serves until another one listens', async () => {
  const shutdown = { graceMs: 0, idleMs: 100, deadlineMs: 50_000 }
  const crew = await crewWith({ shutdown })
  const [killed, told] = crew.pids
  process.kill(killed, 'SIGKILL')
  await until(async () => (await crew.workerPids()).size === 1)
  const load = startLoad(crew.publicPort)

  process.kill(told, 'SIGTERM')

  await until(() => !isAlive(told))
  await until(async () => (await crew.workerPids()).size === 2)
  const outcomes = await load.stop()
  expect(outcomes).toEqual({
    ...{ answered: expect.any(Number), refused: 0, closed: 0, hung: 0 },
  })
  expect(outcomes.answered).toBeGreaterThan(20)
  const replacing = crew.log.find(
    ({ msg, endedPid }) => /^worker exited/.test(`${msg}`) && endedPid === told,
  )
  expect(replacing).toMatchObject({ exitCode: 0, inMs: 250 })
})

test('of two workers that are told to end together one serves until the other is replaced', async () => {
  const crew = await crewWith({ shutdown: { graceMs: 0, idleMs: 100, deadlineMs: 50_000 } })
  const load = startLoad(crew.publicPort)

  for (const pid of crew.pids) process.kill(pid, 'SIGTERM')

  await until(() => crew.pids.every((pid) => !isAlive(pid)))
  await until(async () => (await crew.workerPids()).size === 2)
  expect(await load.stop()).toMatchObject({ refused: 0, closed: 0, hung: 0 })
  expect(await metricOf(crew.opsPort, 'postern_worker_restarts_total')).toBe(2)
})

test('a worker that waits for another ends by its deadline all the same, and no request hangs', async () => {
  const policies = await mkdtemp(join(tmpdir(), 'postern-policies-'))
  onTestFinished(() => rm(policies, { recursive: true, force: true }))
  await cp('policies', policies, { recursive: true })
  const crew = await crewWith({
    policy: { directory: policies },
    shutdown: { graceMs: 0, idleMs: 0, deadlineMs: 4000 },
  })
  const [killed, told] = crew.pids
  // A worker that starts now cannot.
  await rm(policies, { recursive: true, force: true })
  process.kill(killed, 'SIGKILL')
  await until(async () => (await crew.workerPids()).size === 1)
  const load = startLoad(crew.publicPort, 16)
  const before = performance.now()

  process.kill(told, 'SIGTERM')

  await until(() => !isAlive(told))
  const took = performance.now() - before
  const outcomes = await load.stop()
  // It waited for the other, which is what the time is for.
  expect(took).toBeGreaterThan(2000)
  expect(outcomes.answered).toBeGreaterThan(20)
  expect(outcomes.hung).toBe(0)
  const line = crew.log.find(({ msg }) => /only listening worker/.test(`${msg}`))
  expect(line).toMatchObject({ level: 'warn', worker: expect.any(Number) })
})

test('a worker told to end twice does not wait', async () => {
  const crew = await crewWith({ shutdown: { graceMs: 0, idleMs: 0, deadlineMs: 50_000 } })
  const [killed, told] = crew.pids
  process.kill(killed, 'SIGSTOP')
  process.kill(killed, 'SIGKILL')
  process.kill(told, 'SIGTERM')
  await until(() => crew.log.some(({ msg, pid }) => msg === 'shutting down' && pid === told))
  await pause(1100)

  if (isAlive(told)) process.kill(told, 'SIGTERM')

  await until(() => !isAlive(told))
})
