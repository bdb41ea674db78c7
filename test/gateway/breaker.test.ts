import { describe, expect, test } from 'vitest'
import { createBreaker } from '../../src/gateway/upstream/state/breaker.ts'

const refused = new Error('connect ECONNREFUSED')

function startBreaker(failures = 3) {
  const seen = { opened: 0, closed: 0 }
  const breaker = createBreaker(
    { failures },
    { onOpened: () => seen.opened++, onClosed: () => seen.closed++ },
  )
  const fail = (times = 1) => {
    for (let turn = 0; turn < times; turn++) breaker.tried(refused)
  }
  return { ...breaker, fail, seen }
}

describe('a breaker', () => {
  test('opens after so many failures to connect in a row, and not before', () => {
    const { fail, state, seen } = startBreaker()

    const states = [1, 2, 3, 4].map(() => {
      fail()
      return state()
    })

    expect(states).toEqual(['closed', 'closed', 'open', 'open'])
    expect(seen).toEqual({ opened: 1, closed: 0 })
  })

  test.each([
    ['a connection', ({ tried }: ReturnType<typeof startBreaker>) => tried(undefined)],
    ['a response', ({ answered }: ReturnType<typeof startBreaker>) => answered()],
  ])('starts to count anew with %s', (_, succeed) => {
    const breaker = startBreaker()
    breaker.fail(2)
    succeed(breaker)
    breaker.fail(2)

    expect(breaker.state()).toBe('closed')
  })

  test('lets nothing pass until a connection succeeds, then everything', () => {
    const { fail, tried, allows, seen } = startBreaker()
    fail(3)
    expect(allows()).toBe(false)
    tried(undefined)

    expect([allows(), seen.closed]).toEqual([true, 1])
    fail(2)
    expect(allows()).toBe(true)
    fail()
    expect(allows()).toBe(false)
  })

  test('does not close because a target that shuts down still responds', () => {
    const { fail, answered, state } = startBreaker()
    fail(3)
    answered()

    expect(state()).toBe('open')
  })

  test('never opens without settings', () => {
    const breaker = createBreaker(undefined)
    for (let turn = 0; turn < 100; turn++) breaker.tried(refused)

    expect(breaker.state()).toBe('closed')
  })
})

describe('other settings of a breaker', () => {
  test('leave it open, and count what has happened', () => {
    const { fail, state, change } = startBreaker()
    fail()
    change({ failures: 2 })
    fail()
    expect(state()).toBe('open')
    change({ failures: 100 })

    expect(state()).toBe('open')
  })

  test('close it where there are none', () => {
    const { fail, state, change, seen } = startBreaker()
    fail(3)
    change(undefined)

    expect([state(), seen.closed]).toEqual(['closed', 1])
  })
})
