import { describe, expect, test } from 'vitest'
import { takeRoom } from '../../src/wire/buffer-pool.ts'

const large = 40_000

describe('room for a piece of an answer', () => {
  test.each([0, 1, 32_767, 32_768, 65_535, 65_536, 65_537])('has the length: %i', (length) => {
    expect(takeRoom(length).bytes).toHaveLength(length)
  })

  test('is nobody else’s until it is given back', () => {
    const rooms = Array.from({ length: 100 }, () => takeRoom(large))
    rooms.forEach(({ bytes }, number) => void bytes.fill(number))

    expect(rooms.every(({ bytes }, number) => bytes.every((byte) => byte === number))).toBe(true)
  })

  test('that was given back is used again', () => {
    const first = takeRoom(large)
    first.release()

    expect(takeRoom(large + 1).bytes.buffer).toBe(first.bytes.buffer)
  })

  test('that was given back twice is used by one', () => {
    const first = takeRoom(large)
    first.release()
    first.release()
    const [second, third] = [takeRoom(large), takeRoom(large)]
    // Nor does whoever had it before take it from those who have it now.
    first.release()
    const fourth = takeRoom(large)

    expect(new Set([second, third, fourth].map(({ bytes }) => bytes.buffer)).size).toBe(3)
  })

  test('that is short is never shared through here', () => {
    const short = takeRoom(100)
    short.bytes.fill('a')
    short.release()
    takeRoom(100).bytes.fill('b')

    expect(short.bytes.toString()).toBe('a'.repeat(100))
  })

  test('waits to be used again in a bounded number', () => {
    const rooms = Array.from({ length: 200 }, () => takeRoom(large))
    const known = new Set(rooms.map(({ bytes }) => bytes.buffer))
    for (const { release } of rooms) release()

    const again = Array.from({ length: 200 }, () => takeRoom(large))
    expect(again.filter(({ bytes }) => known.has(bytes.buffer))).toHaveLength(64)
  })
})
