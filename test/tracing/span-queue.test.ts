import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { postSpans } from '../../src/tracing/otlp/post-spans.ts'
import { SpanQueue } from '../../src/tracing/otlp/span-queue.ts'
import { type Collector, startCollector } from '../support/collector.ts'
import { until } from '../support/until.ts'

const opened: SpanQueue[] = []
afterEach(async () => {
  for (const queue of opened.splice(0)) await queue.close()
})

/** A queue that exports to the collector by HTTP, and what it logged. */
function queueFor(origin: string, delayMs = 5) {
  const lines: (object & { readonly msg: string })[] = []
  const log = (fields: object, msg: string) => void lines.push({ ...fields, msg })
  const queue = new SpanQueue({
    post: (spans, signal) => postSpans(new URL('/v1/traces', origin), framed(spans), signal),
    log: { info: log, warn: log },
    delayMs,
    retryMs: 2,
  })
  opened.push(queue)
  return { queue, lines }
}

const framed = (spans: readonly string[]) =>
  `{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"spans":[${spans.join()}]}]}]}`

/** A span in JSON; `padding` makes it long. */
const span =
  (number: number, padding = 0) =>
  () =>
    JSON.stringify({ name: `s${number}${' '.repeat(padding)}`, kind: 2, attributes: [] })

async function start(port?: number): Promise<Collector> {
  const collector = await startCollector(port)
  onTestFinished(collector.close)
  return collector
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

const never = 3_600_000

describe('spans on their way to a collector', () => {
  test('wait for others and go together, compressed', async () => {
    const collector = await start()
    const { queue } = queueFor(collector.origin, 50)

    for (let number = 0; number < 20; number++) queue.add(span(number))

    await until(() => queue.counts().exported === 20)
    expect(collector.exports.map(({ spans }) => spans.length)).toEqual([20])
    expect(collector.exports[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    })
  })

  test('go at once when there are enough for a batch, and the others wait', async () => {
    const collector = await start()
    const { queue } = queueFor(collector.origin, never)

    for (let number = 0; number < 1100; number++) queue.add(span(number))

    await until(() => queue.counts().exported === 1024)
    await queue.close()
    expect(collector.exports.map(({ spans }) => spans.length)).toEqual([512, 512, 76])
    expect(collector.spans().map(({ name }) => name)).toEqual(
      Array.from({ length: 1100 }, (_, number) => `s${number}`),
    )
  })

  test('go in smaller batches when they are long', async () => {
    const collector = await start()
    const { queue } = queueFor(collector.origin, never)

    for (let number = 0; number < 5; number++) queue.add(span(number, 400_000))

    await queue.close()
    expect(collector.exports.map(({ spans }) => spans.length)).toEqual([2, 2, 1])
  })

  test('are sent when a collector that was down is back', async () => {
    const port = await freePort()
    const { queue, lines } = queueFor(`http://127.0.0.1:${port}`, 1)
    queue.add(span(1))
    await until(() => lines.length > 0)

    const collector = await start(port)
    // Each has six attempts, which may all be too early.
    await until(() => {
      queue.add(span(2))
      return queue.counts().exported > 0
    })

    expect(collector.spans().length).toBeGreaterThan(0)
    expect(lines).toEqual([
      { reason: 'ECONNREFUSED', msg: 'span export failed' },
      { dropped: expect.any(Number), msg: 'span export recovered' },
    ])
  })

  test('are kept for a collector that cannot take them yet, for as long as it says', async () => {
    const collector = await start()
    const { queue, lines } = queueFor(collector.origin, 1)
    collector.answerWith((response) => {
      collector.answerWith(undefined)
      response.writeHead(503, { 'retry-after': '1' }).end()
    })

    const began = performance.now()
    queue.add(span(1))
    await until(() => queue.counts().exported === 1)

    expect(performance.now() - began).toBeGreaterThan(990)
    expect(collector.attempts()).toBe(2)
    expect(lines.map(({ msg }) => msg)).toEqual(['span export failed', 'span export recovered'])
  })

  test('are dropped and counted when the queue is full, and after six attempts', async () => {
    const port = await freePort()
    const { queue, lines } = queueFor(`http://127.0.0.1:${port}`, 1)

    for (let number = 0; number < 12; number++) queue.add(span(number, 1_000_000))

    // One is being sent, and nine are more than 8 MiB.
    expect(queue.counts()).toEqual({ exported: 0, dropped: 2 })
    queue.add(() => {
      throw new Error('made a span that has no room')
    })
    await until(() => queue.counts().dropped === 13)
    expect(lines).toEqual([{ reason: 'ECONNREFUSED', msg: 'span export failed' }])
  })

  test.each([
    [429, 2],
    [502, 2],
    [503, 2],
    [504, 2],
    [400, 1],
    [401, 1],
    [302, 1],
  ])('are sent again after status %i: %i attempts', async (status, attempts) => {
    const collector = await start()
    const { queue, lines } = queueFor(collector.origin, 1)
    collector.answerWith((response) => {
      if (collector.attempts() === attempts) collector.answerWith(undefined)
      response.writeHead(status, { location: '/elsewhere' }).end()
    })

    queue.add(span(1))
    await until(() => queue.counts().dropped + queue.counts().exported === 1)

    const isKept = attempts === 2
    expect(queue.counts()).toEqual({ exported: isKept ? 1 : 0, dropped: isKept ? 0 : 1 })
    expect(collector.attempts()).toBe(isKept ? 3 : 1)
    expect(lines[0]).toEqual({ reason: `status ${status}`, msg: 'span export failed' })
  })

  test('that the collector rejects are counted, with its reason', async () => {
    const collector = await start()
    const { queue, lines } = queueFor(collector.origin, 1)
    const partialSuccess = { rejectedSpans: '2', errorMessage: 'too old' }
    collector.answerWith((response) => response.end(JSON.stringify({ partialSuccess })))

    for (let number = 0; number < 3; number++) queue.add(span(number))
    await until(() => queue.counts().exported === 1)

    expect(queue.counts()).toEqual({ exported: 1, dropped: 2 })
    expect(lines).toEqual([{ spans: 2, reason: 'too old', msg: 'collector rejected spans' }])
  })

  test('are accepted by a collector whose answer is no JSON, or endless', async () => {
    const collector = await start()
    const { queue } = queueFor(collector.origin, 1)
    const answers = ['', 'thanks', 'x'.repeat(200_000)]
    collector.answerWith((response) => response.end(answers[collector.attempts() - 1]))

    for (const number of answers.keys()) {
      queue.add(span(number))
      await until(() => queue.counts().exported === number + 1)
    }
    expect(queue.counts().dropped).toBe(0)
  })
})

describe('at shutdown', () => {
  test('a collector that is down is tried once, and no span is added later', async () => {
    const { queue, lines } = queueFor(`http://127.0.0.1:${await freePort()}`, never)
    for (let number = 0; number < 600; number++) queue.add(span(number))
    await until(() => lines.length > 0)

    await queue.close()
    queue.add(span(600))

    expect(queue.counts()).toEqual({ exported: 0, dropped: 601 })
    expect(lines).toEqual([
      { reason: 'ECONNREFUSED', msg: 'span export failed' },
      { spans: 600, msg: 'spans dropped at shutdown' },
    ])
  })

  test('a collector that never answers does not keep the process', async () => {
    const collector = await start()
    collector.answerWith(() => {})
    const { queue, lines } = queueFor(collector.origin, never)
    queue.add(span(1))

    await queue.close()

    expect(queue.counts()).toEqual({ exported: 0, dropped: 1 })
    expect(lines.at(-1)).toEqual({ spans: 1, msg: 'spans dropped at shutdown' })
  })
})
