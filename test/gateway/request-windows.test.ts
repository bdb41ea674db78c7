import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createRequestWindows,
  type RequestWindowParts,
  type WindowCount,
} from '../../src/gateway/route/request-windows.ts'
import { until } from '../support/until.ts'

const limit = { requests: 3, seconds: 60 }
const start = 6e10

function windows(parts: Partial<RequestWindowParts> = {}) {
  const clock = { now: start }
  const created = createRequestWindows({ now: () => clock.now, shareEveryMs: 5, ...parts })
  onTestFinished(created.close)
  const take = (name: string, times = 1) =>
    Array.from({ length: times }, () => created.take(name, limit))
  return { clock, take }
}

/** What several replicas add up, in one process. */
function sums() {
  const totals = new Map<string, number>()
  const share = async (counts: readonly WindowCount[]) =>
    counts.map(({ name, window, count }) => {
      const key = `${window} ${name}`
      totals.set(key, (totals.get(key) ?? 0) + count)
      return totals.get(key) ?? 0
    })
  return { totals, share }
}

describe('windows of requests', () => {
  test('let through what the limit has, then say how long until there is room', () => {
    const { take, clock } = windows()

    expect(take('a', 3)).toEqual([0, 0, 0])
    clock.now += 20_500
    expect(take('a', 2)).toEqual([40, 40])
    expect(take('b')).toEqual([0])
  })

  test('begin anew with the next window', () => {
    const { take, clock } = windows()
    take('a', 4)

    clock.now += 60_000

    expect(take('a', 4)).toEqual([0, 0, 0, 60])
  })

  test('keep no more names than they may, and keep the one that is in use', () => {
    const { take } = windows({ maxNames: 10 })
    take('busy', 3)

    for (let other = 0; other < 100; other++) {
      take(`other ${other}`, 3)
      if (other % 5 === 0) take('busy')
    }

    expect(take('busy')).toEqual([60])
    expect(take('other 0')).toEqual([0])
  })

  test('learn from the others what they let through', async () => {
    const { totals, share } = sums()
    const [here, there] = [windows({ share }), windows({ share })]
    here.take('a', 2)
    await until(() => totals.size === 1)

    expect(there.take('a')).toEqual([0])
    await until(() => totals.get(`${start / 60_000} a`) === 3)
    await until(() => there.take('a')[0] !== 0)

    expect([...totals.values()]).toEqual([3])
  })

  test('go on alone when the others cannot be asked', async () => {
    let asked = 0
    const share = async () => {
      asked++
      return undefined
    }
    const { take } = windows({ share })

    take('a', 2)
    await until(() => asked === 1)

    expect(take('a', 2)).toEqual([0, 60])
  })

  test('keep no more names for the others than for themselves', async () => {
    const shared: string[] = []
    const share = async (counts: readonly WindowCount[]) => {
      shared.push(...counts.map(({ name }) => name))
      return undefined
    }
    const { take, clock } = windows({ share, maxNames: 10 })

    for (let name = 0; name < 5000; name++) take(`${name % 50}`)
    clock.now += 60_000
    for (let name = 0; name < 50; name++) take(`${name}`)
    take('last')
    await until(() => shared.includes('last'))

    expect(shared).toHaveLength(10)
  })

  test('have one message under way, with a bounded number of names', async () => {
    const batches: number[] = []
    let answer = () => {}
    const share = (counts: readonly WindowCount[]) => {
      batches.push(counts.length)
      return new Promise<undefined>((resolve) => {
        answer = () => resolve(undefined)
      })
    }
    const { take } = windows({ share })
    for (let name = 0; name < 1500; name++) take(`${name}`)

    await until(() => batches.length === 1)
    answer()
    await until(() => batches.length === 2)

    expect(batches).toEqual([1000, 500])
    answer()
  })
})
