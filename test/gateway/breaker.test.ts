import { describe, expect, test } from 'vitest'
import { createBreaker } from '../../src/gateway/breaker.ts'

function startBreaker() {
  let time = 0
  const breaker = createBreaker({ failures: 3, openMs: 1000, maxOpenMs: 3000 }, () => time)
  const fail = () => {
    breaker.failed(breaker.began())
  }
  return { ...breaker, fail, wait: (ms: number) => (time += ms) }
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
    const { fail, began, succeeded, state } = startBreaker()
    fail()
    fail()
    began()
    succeeded()
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

  test('closes with a probe that succeeds', () => {
    const { fail, wait, began, succeeded, allows, state } = startBreaker()
    for (let time = 0; time < 3; time++) fail()
    wait(1000)
    began()
    succeeded()

    expect([state(), allows()]).toEqual(['closed', true])
  })

  test('opens for twice as long with each probe that fails, up to its bound', () => {
    const { fail, wait, state } = startBreaker()
    for (let time = 0; time < 3; time++) fail()

    for (const openFor of [1000, 2000, 3000, 3000]) {
      wait(openFor - 1)
      expect(state()).toBe('open')
      wait(1)
      expect(state()).toBe('half-open')
      fail()
    }
  })

  test('lets the next one probe when a probe ends without telling', () => {
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
    const { fail, wait, began, failed, succeeded, state } = startBreaker()
    const early = [began(), began(), began()]
    for (let time = 0; time < 3; time++) fail()
    wait(1000)
    began()
    succeeded()
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
