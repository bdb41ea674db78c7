import { describe, expect, test } from 'vitest'
import { createIdleLimit } from '../../src/wire/idle-limit.ts'

function startLimit() {
  let time = 0
  return { ...createIdleLimit(undefined, () => time), wait: (ms: number) => (time += ms) }
}

describe('the idle timeout of connections to a server', () => {
  test('is four seconds, or less than what the server announces', () => {
    const { of } = startLimit()

    expect([undefined, 0, 1, 5, 60].map(of)).toEqual([4000, 0, 500, 4000, 59_000])
  })

  test('is less than the time after which the server was seen to close one', () => {
    const { of, closedByServer } = startLimit()
    closedByServer(2000)
    closedByServer(3500)

    expect([undefined, 1, 60].map(of)).toEqual([1500, 500, 1500])
  })

  test('does not follow a server that closes what it has just used', () => {
    const { of, closedByServer } = startLimit()
    closedByServer(5)
    closedByServer(399)

    expect(of(undefined)).toBe(4000)
  })

  test('grows again by and by, until the server is seen to close one', () => {
    const { of, closedByServer, wait } = startLimit()
    closedByServer(2000)
    wait(59_999)
    expect(of(undefined)).toBe(1500)
    wait(1)
    expect(of(undefined)).toBe(2250)
    closedByServer(2000)
    expect(of(undefined)).toBe(1500)
    for (let minute = 0; minute < 4; minute++) {
      wait(60_000)
      of(undefined)
    }

    expect(of(undefined)).toBe(4000)
  })
})
