import { describe, expect, test } from 'vitest'
import { createBreaker } from '../../src/gateway/upstream/state/breaker.ts'

function startBreaker({ isAlone = false } = {}) {
  let time = 0
  const breaker = createBreaker(
    { failures: 3, openMs: 1000, maxOpenMs: 3000 },
    { isAlone: () => isAlone, now: () => time },
  )
  const fail = () => {
    breaker.failed(breaker.began())
  }
  const succeed = () => {
    breaker.succeeded(breaker.began())
  }
  const openIt = () => {
    for (let time = 0; time < 3; time++) fail()
  }
  return { ...breaker, fail, succeed, openIt, wait: (ms: number) => (time += ms) }
}

describe('a breaker', () => {
  test('opens after so many failures in a row, and not before', () => {
    const { fail, state } = startBreaker()

    const states = [1, 2, 3].map(() => {
      fail()
      return state()
    })

    expect(states).toEqual(['closed', 'closed', 'open'])
  })

  test('starts to count anew with a success', () => {
    const { fail, succeed, state } = startBreaker()
    fail()
    fail()
    succeed()
    fail()
    fail()

    expect(state()).toBe('closed')
  })

  test('lets one request pass when its time is over, and no second beside it', () => {
    const { fail, wait, allows, began } = startBreaker()
    for (let time = 0; time < 3; time++) fail()
    expect(allows()).toBe(false)
    wait(999)
    expect(allows()).toBe(false)
    wait(1)
    expect(allows()).toBe(true)
    began()

    expect(allows()).toBe(false)
  })

  test('lets more and more pass with each that succeeds, and closes with the fourth', () => {
    const { openIt, wait, began, succeeded, allows, state } = startBreaker()
    openIt()
    wait(1000)
    const first = began()
    expect(allows()).toBe(false)
    succeeded(first)

    const beside: number[] = []
    while (allows()) beside.push(began())
    expect([state(), beside.length]).toEqual(['half-open', 4])
    for (const attempt of beside.slice(0, 2)) succeeded(attempt)
    while (allows()) beside.push(began())
    expect([state(), beside.length]).toEqual(['half-open', 66])
    succeeded(beside[2] ?? 0)

    expect([state(), allows()]).toEqual(['closed', true])
  })

  test('opens again with a trial that fails beside others that succeed', () => {
    const { openIt, wait, began, succeed, succeeded, failed, allows, state } = startBreaker()
    openIt()
    wait(1000)
    succeed()
    const [one, other, third] = [began(), began(), began()]
    succeeded(one)
    failed(other)
    expect([state(), allows()]).toEqual(['open', false])
    failed(third)
    wait(1999)
    expect(state()).toBe('open')
    wait(1)

    expect(state()).toBe('half-open')
  })

  test.each([
    ['twice as long with each trial that fails, up to its bound', false, [1000, 2000, 3000, 3000]],
    ['no longer than before where no other target serves', true, [1000, 1000, 1000, 1000]],
  ])('opens for %s', (_, isAlone, times) => {
    const { openIt, fail, wait, state } = startBreaker({ isAlone })
    openIt()

    for (const openFor of times) {
      wait(openFor - 1)
      expect(state()).toBe('open')
      wait(1)
      expect(state()).toBe('half-open')
      fail()
    }
  })

  test('lets one request pass at once when the target is reachable again', () => {
    const { openIt, fail, wait, reachable, allows, began, state } = startBreaker()
    openIt()
    reachable()
    expect(allows()).toBe(true)
    fail()
    expect(state()).toBe('open')
    wait(10)
    reachable()
    began()

    expect([state(), allows()]).toEqual(['half-open', false])
  })

  test('does not care whether a target is reachable that works', () => {
    const { reachable, fail, openIt, wait, state } = startBreaker()
    reachable()
    fail()
    expect(state()).toBe('closed')
    openIt()
    wait(1000)
    reachable()

    expect(state()).toBe('half-open')
  })

  test('does not close because of what began before it opened', () => {
    const { openIt, began, succeeded, state } = startBreaker()
    const early = [1, 2, 3, 4].map(() => began())
    openIt()
    for (const attempt of early) succeeded(attempt)

    expect(state()).toBe('open')
  })

  test('takes what is answered although it is open for a trial', () => {
    const { openIt, succeed, allows, state } = startBreaker()
    openIt()
    succeed()

    expect([state(), allows()]).toEqual(['half-open', true])
  })

  test('lets the next one try when a trial ends without telling', () => {
    const { fail, wait, began, abandoned, allows } = startBreaker()
    for (let time = 0; time < 3; time++) fail()
    wait(1000)
    abandoned(began())

    expect(allows()).toBe(true)
  })

  test('does not stay open for longer because of requests that began before', () => {
    const { fail, wait, began, failed, state } = startBreaker()
    const early = [began(), began()]
    for (let time = 0; time < 3; time++) fail()
    wait(500)
    failed(early[0] ?? 0)
    wait(500)
    expect(state()).toBe('half-open')
    failed(early[1] ?? 0)

    expect(state()).toBe('half-open')
  })

  test('does not open again, once closed, because of requests that began before it opened', () => {
    const { openIt, wait, began, failed, succeed, state } = startBreaker()
    const early = [began(), began(), began()]
    openIt()
    wait(1000)
    for (let time = 0; time < 4; time++) succeed()
    for (const attempt of early) failed(attempt)

    expect(state()).toBe('closed')
  })

  test('takes no other request for its probe', () => {
    const { fail, wait, began, failed, abandoned, allows } = startBreaker()
    const early = began()
    for (let time = 0; time < 3; time++) fail()
    // Sent although it is open: the second try of the request that opened it.
    failed(began())
    wait(1000)
    expect(allows()).toBe(true)
    began()
    abandoned(early)

    expect(allows()).toBe(false)
  })
})

describe('other settings of a breaker', () => {
  test('leave it open, for no longer than they allow, and count what has begun', () => {
    const { fail, openIt, state, wait, change, latest } = startBreaker()
    fail()
    change({ failures: 2, openMs: 1000, maxOpenMs: 3000 })
    fail()
    expect([state(), latest()]).toEqual(['open', 2])
    change({ failures: 2, openMs: 500, maxOpenMs: 500 })
    wait(499)
    expect(state()).toBe('open')
    wait(1)
    expect(state()).toBe('half-open')
    openIt()
    wait(500)
    expect(state()).toBe('half-open')
  })
})
