import { describe, expect, onTestFinished, test } from 'vitest'
import { BoundedQueue } from '../../src/background/bounded-queue.ts'
import { createOutbox } from '../../src/background/outbox.ts'
import { until } from '../support/until.ts'

type Options = Parameters<typeof createOutbox>[0]

/** An outbox of numbers on a store that fails while `problem` is set. */
function setUp(options: Partial<Options> = {}) {
  const queue = new BoundedQueue<number>({ most: 100, drops: 'oldest', batchSize: 2 })
  const state = { problem: '', attempts: 0 }
  const stored: number[] = []
  const lines: unknown[] = []
  const outbox = createOutbox({
    async deliver({ signal }) {
      state.attempts++
      if (queue.waiting.size === 0) return 'idle'
      await queue.drain(async (batch) => {
        if (state.problem !== '') throw new Error(state.problem)
        stored.push(...batch)
      }, signal)
      return undefined
    },
    everyMs: 60_000,
    log: {
      info: (fields, text) => void lines.push([text, fields]),
      warn: (fields, text) => void lines.push([text, fields]),
    },
    failed: 'not written',
    recovered: 'written again',
    ...options,
  })
  onTestFinished(() => outbox.close(0))
  const add = (...all: readonly number[]) => {
    for (const one of all) queue.add(one)
    outbox.wake()
  }
  return { outbox, add, state, stored, lines }
}

describe('an outbox', () => {
  test('keeps what a store does not take, in order, and logs one line for each reason', async () => {
    const { outbox, add, state, stored, lines } = setUp()
    state.problem = 'down'
    add(1, 2, 3)
    await until(() => outbox.failures() >= 2)
    expect(outbox.outage()).toBe('down')
    state.problem = 'full'
    await until(() => outbox.outage() === 'full')
    add(4)
    state.problem = ''
    await until(() => stored.length === 4)

    expect(stored).toEqual([1, 2, 3, 4])
    expect(outbox.outage()).toBeUndefined()
    expect(lines).toEqual([
      ['not written', { reason: 'down' }],
      ['not written', { reason: 'full' }],
      ['written again', {}],
    ])
  })

  test('is not asked more often while the store fails, however much is added', async () => {
    const { add, state } = setUp()
    state.problem = 'down'
    for (let at = 0; at < 50; at++) {
      add(at)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }

    // The pauses are 0.1 s and more.
    expect(state.attempts).toBeLessThan(10)
  })

  test('delivers what waits when it closes, then leaves', async () => {
    const left: number[][] = []
    const { outbox, add, stored } = setUp({ leave: async () => left.push([...stored]) })
    add(1, 2, 3)

    await outbox.close()

    expect(left).toEqual([[1, 2, 3]])
  })

  test('that does not insist tries once more, and ends before its deadline', async () => {
    const { outbox, add, state } = setUp()
    state.problem = 'down'
    add(1)
    await until(() => state.attempts === 1)

    await outbox.close(60_000)

    expect(outbox.failures()).toBeLessThan(4)
  })

  test('that insists tries until its deadline, and then no more', async () => {
    const { outbox, add, state, stored } = setUp({ insists: true })
    state.problem = 'down'
    add(1)
    const closed = outbox.close(60_000)
    await until(() => outbox.failures() >= 3)
    state.problem = ''
    await closed
    expect(stored).toEqual([1])

    const other = setUp({ insists: true })
    other.state.problem = 'down'
    other.add(1)
    await other.outbox.close(50)
    const before = other.state.attempts
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(other.state.attempts).toBe(before)
  })
})

describe('a bounded queue', () => {
  const filled = (drops: 'oldest' | 'newest') => {
    const queue = new BoundedQueue<number>({ most: 2, drops })
    return { took: [1, 2, 3].map((one) => queue.add(one)), left: [...queue.waiting.values()] }
  }

  test('drops the oldest item or the newest one, and says so', () => {
    expect(filled('oldest')).toEqual({ took: [true, true, true], left: [2, 3] })
    expect(filled('newest')).toEqual({ took: [true, true, false], left: [1, 2] })
  })

  test('keeps an item that was replaced while the earlier one was written', async () => {
    const queue = new BoundedQueue<{ readonly id: string; readonly value: number }>({
      ...{ most: 2, drops: 'newest', keyOf: ({ id }) => id },
    })
    queue.add({ id: 'a', value: 1 })
    const written: number[] = []

    await queue.drain(async ([first]) => {
      written.push(first?.value ?? 0)
      if (written.length === 1) queue.add({ id: 'a', value: 2 })
    })

    expect(written).toEqual([1, 2])
    expect([queue.waiting.size, queue.dropped]).toEqual([0, 0])
  })
})
