import { describe, expect, test } from 'vitest'
import { isAlive } from '../support/crew-process.ts'
import { metricOf } from '../support/gateway-metrics.ts'
import { inParallel } from '../support/in-parallel.ts'
import {
  type ReaderOptions,
  type readers,
  startReadBy,
  type WatchedGateway,
  withoutColours,
} from '../support/log-readers.ts'
import { until } from '../support/until.ts'
import { useWorkerStores } from '../support/worker-stores.ts'

const stores = useWorkerStores()

const start = (reader: keyof typeof readers, options: ReaderOptions = {}) =>
  startReadBy(reader, {
    ...options,
    workersOn: stores(),
  })

/** Every sixth one makes a line that is longer than what a pipe takes as a whole. */
const pathOf = (call: number) => `/call-${call}-${'x'.repeat(call % 6 === 0 ? 6000 : 600)}`

async function call(gateway: WatchedGateway, from: number, count: number): Promise<void> {
  const calls = Array.from({ length: count }, (_, at) => from + at)
  await inParallel(calls, async (number) => {
    const answer = await fetch(`http://127.0.0.1:${gateway.publicPort}${pathOf(number)}`)
    await answer.arrayBuffer()
    expect(answer.status).toBe(200)
  })
}

/** Calls while it is read, while it is not and while it is again, and has it end meanwhile. */
async function callToTheEnd(gateway: WatchedGateway): Promise<readonly string[]> {
  await call(gateway, 0, 60)
  gateway.stopReading()
  await call(gateway, 60, 250)
  gateway.goOnReading()
  await call(gateway, 310, 40)
  gateway.stopReading()
  await call(gateway, 350, 250)
  expect(await metricOf(gateway.opsPort, 'postern_log_dropped_total')).toBe(0)
  const listening = linesOf(gateway).find((line) => line.includes('listening')) ?? ''
  process.kill(Number(/pid=(\d+)/.exec(listening)?.[1]), 'SIGTERM')
  gateway.goOnReading()
  await gateway.ended
  return linesOf(gateway)
}

const linesOf = ({ text }: WatchedGateway) => withoutColours(text()).split(/\r?\n/).slice(0, -1)

const textLine =
  /^\d\d:\d\d:\d\d\.\d{3} INFO {2}GET (\/call-\d+-x+) 200 token-missing [\d.]+ms - worker=[12] pid=\d+ requestId=[\w-]+(?: \w+=\S+)*$/

/** The path of the request that a line is about, if it is about one and nothing else. */
const pathIn = (line: string) => textLine.exec(line)?.[1]

const expected = Array.from({ length: 600 }, (_, number) => pathOf(number)).sort()

describe('the log of two workers', () => {
  test.each([
    ['on a terminal', 'terminal', 'auto'],
    ['on a pipe, as text', 'pipe', 'text'],
    ['in a file, as text', 'file', 'text'],
  ] as const)(
    '%s has each line once and whole, although its reader pauses, up to the end',
    async (_, reader, format) => {
      const gateway = await start(reader, { logger: { format } })

      const lines = await callToTheEnd(gateway)

      const calls = lines.filter((line) => /call-|xxx/.test(line))
      expect(calls.filter((line) => pathIn(line) === undefined).slice(0, 3)).toEqual([])
      expect(calls.map(pathIn).sort()).toEqual(expected)
      expect(new Set(calls.map((line) => /worker=\d/.exec(line)?.[0])).size).toBe(2)
      const others = lines.filter((line) => !calls.includes(line))
      const begun = /^\d\d:\d\d:\d\d\.\d{3} [A-Z]+ /
      expect(others.filter((line) => !begun.test(line))).toEqual([])
      expect(gateway.text().includes('\u001b')).toBe(reader === 'terminal')
    },
  )

  test('that nobody reads costs lines, each counted, and no request', async () => {
    const gateway = await start('pipe', { logger: { format: 'json' } })
    gateway.stopReading()

    await call(gateway, 0, 4500)
    const dropped = () => metricOf(gateway.opsPort, 'postern_log_dropped_total')
    await until(async () => (await dropped()) > 0)
    gateway.goOnReading()

    const written = () => linesOf(gateway).filter((line) => line.includes('call-'))
    await until(async () => written().length + (await dropped()) === 4500)
    // Those that were written are whole.
    const read = written().map((line) => (JSON.parse(line) as { path: string }).path)
    expect(read.filter((path) => !/^\/call-\d+-x+$/.test(path))).toEqual([])
  })

  // A process that ends makes what it has of a socket wait again for whoever reads there.
  test('on a socket that nobody reads keeps nobody waiting when a worker has ended', async () => {
    const gateway = await start('journal', { logger: { format: 'json' } })
    const figures = () => fetch(`http://127.0.0.1:${gateway.opsPort}/readyz?verbose`)
    const { workers } = (await (await figures()).json()) as { workers: { pid: number }[] }
    gateway.stopReading()
    await call(gateway, 0, 400)

    process.kill(workers[0]?.pid ?? 0, 'SIGTERM')
    await until(() => !isAlive(workers[0]?.pid ?? 0))
    // One of them is to be written by the supervisor, to whom nobody listens.
    await call(gateway, 400, 100)

    expect((await figures()).status).toBe(200)
    gateway.end()
    await until(() => !isAlive(workers[1]?.pid ?? 0))
    gateway.goOnReading()
    await gateway.ended
  })

  test('on a terminal has no colours where NO_COLOR asks for none, and ends with the terminal', async () => {
    const gateway = await start('terminal', { env: { NO_COLOR: '1' } })

    await call(gateway, 1, 4)
    await until(() => linesOf(gateway).filter((line) => textLine.test(line)).length === 4)
    const pids = new Set(linesOf(gateway).map((line) => Number(/pid=(\d+)/.exec(line)?.[1])))
    expect(gateway.text()).not.toContain('\u001b')
    expect(pids.size).toBe(3)

    gateway.closeTerminal()

    await until(() => ![...pids].some(isAlive))
  })
})
