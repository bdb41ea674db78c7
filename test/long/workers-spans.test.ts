import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type CrewProcess, startCrew } from '../support/crew-process.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { tokenOf } from '../support/tokens.ts'
import { type TracingSdk, writeTracingSdk } from '../support/tracing-sdk.ts'
import { until } from '../support/until.ts'
import { useWorkerStores } from '../support/worker-stores.ts'

const stores = useWorkerStores()

/** Two workers with an SDK in every process of them. */
async function startTraced(): Promise<{ crew: CrewProcess; sdk: TracingSdk }> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-spans-'))
  const sdk = await writeTracingSdk(directory)
  const crew = await startCrew(stores(), { preload: sdk.module, ownGroup: true })
  onTestFinished(async () => {
    await crew.clear()
    await rm(directory, { recursive: true, force: true })
  })
  return { crew, sdk }
}

const traceOf = (call: number) => `a${call.toString(16).padStart(31, '0')}`
const callerOf = (call: number) => `c${call.toString(16).padStart(15, '0')}`

/** Each call on a connection of its own, in a trace of its own. */
async function call({ publicPort }: CrewProcess, number: number): Promise<number | undefined> {
  const bytes = request(`GET /orders/${number}`, [
    `Authorization: Bearer ${tokenOf('admin')}`,
    `traceparent: 00-${traceOf(number)}-${callerOf(number)}-01`,
  ])
  return (await sendRaw(publicPort, bytes, { quietMs: 60_000 })).answers[0]?.status
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at)

const told = {
  'its supervisor alone': (crew: CrewProcess) => crew.signal('SIGTERM'),
  'the whole group': (crew: CrewProcess) => void process.kill(-crew.pid, 'SIGTERM'),
}

describe('two workers with an SDK loaded', () => {
  test.each(Object.entries(told))(
    'lose no span when %s is told to end, and make each once',
    async (_, tell) => {
      const { crew, sdk } = await startTraced()
      const pids = [...(await crew.workerPids()).values()]
      const done = numbers(1, 40)
      expect(await Promise.all(done.map((number) => call(crew, number)))).toEqual(
        done.map(() => 200),
      )
      const answers: (() => void)[] = []
      crew.upstream.answerWith((socket) => void answers.push(() => socket.write(ok)))
      const late = numbers(41, 8)
      const inFlight = late.map((number) => call(crew, number))
      await until(() => answers.length === late.length)
      expect(await sdk.exported()).toEqual([])

      tell(crew)
      await until(() => crew.log.some(({ msg }) => msg === 'shutting down'))
      for (const answer of answers) answer()

      expect(await Promise.all(inFlight)).toEqual(late.map(() => 200))
      expect(await crew.exit).toBe(0)
      const spans = await sdk.exported()
      const servers = spans.filter(({ kind }) => kind === 'SERVER')
      const clients = spans.filter(({ kind }) => kind === 'CLIENT')
      const byTrace = (a: { traceId: string }, b: { traceId: string }) =>
        a.traceId < b.traceId ? -1 : 1
      const lines = new Map(crew.log.map((line) => [line['trace_id'], line]))
      expect(
        servers.sort(byTrace).map(({ traceId, parentId, spanId, pid }) => {
          const line = lines.get(traceId)
          const isLogged = line?.['span_id'] === spanId && line?.['pid'] === pid
          return { traceId, parentId, isLogged }
        }),
      ).toEqual(
        [...done, ...late].map((number) => ({
          traceId: traceOf(number),
          parentId: callerOf(number),
          isLogged: true,
        })),
      )
      expect(clients.sort(byTrace).map(({ traceId, parentId, pid }) => [traceId, parentId, pid]))
        // Below the span of the same request, by the same worker.
        .toEqual(servers.map(({ traceId, spanId, pid }) => [traceId, spanId, pid]))
      expect(new Set(spans.map(({ pid }) => pid))).toEqual(new Set(pids))
      const sent = crew.upstream.requests.map((each) => each.values('traceparent').join())
      expect(sent.sort()).toEqual(
        clients.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort(),
      )
    },
  )

  test('lose no span of one that is told to end and replaced', async () => {
    const { crew, sdk } = await startTraced()
    const done = numbers(1, 20)
    await Promise.all(done.map((number) => call(crew, number)))
    const [ending = 0] = (await crew.workerPids()).values()
    const its = () => crew.log.filter(({ pid, msg }) => msg === 'request' && pid === ending)
    await until(() => crew.log.filter(({ msg }) => msg === 'request').length === done.length)

    process.kill(ending, 'SIGTERM')

    await until(async () => {
      const pids = [...(await crew.workerPids()).values()]
      return pids.length === 2 && !pids.includes(ending)
    })
    const spans = await sdk.exported()
    const servers = spans.filter(({ kind }) => kind === 'SERVER')
    expect(servers.map(({ spanId }) => spanId).sort()).toEqual(
      its()
        .map((line) => line['span_id'])
        .sort(),
    )
    expect(its().length).toBeGreaterThan(0)
  })
})
