import { describe, expect, test } from 'vitest'
import { takeBuffer } from '../../src/wire/buffer-pool.ts'

const large = 40_000

describe('a buffer for a piece of a response', () => {
  test.each([0, 1, 32_767, 32_768, 65_535, 65_536, 65_537])('has the length: %i', (length) => {
    expect(takeBuffer(length).bytes).toHaveLength(length)
  })

  test('is not shared until it is released', () => {
    const buffers = Array.from({ length: 100 }, () => takeBuffer(large))
    buffers.forEach(({ bytes }, number) => void bytes.fill(number))

    expect(buffers.every(({ bytes }, number) => bytes.every((byte) => byte === number))).toBe(true)
  })

  test('that was released is used again', () => {
    const first = takeBuffer(large)
    first.release()

    expect(takeBuffer(large + 1).bytes.buffer).toBe(first.bytes.buffer)
  })

  test('that was released twice is used once', () => {
    const first = takeBuffer(large)
    first.release()
    first.release()
    const [second, third] = [takeBuffer(large), takeBuffer(large)]
    // A late release of the first does not affect the current owner.
    first.release()
    const fourth = takeBuffer(large)

    expect(new Set([second, third, fourth].map(({ bytes }) => bytes.buffer)).size).toBe(3)
  })

  test('that is short is never pooled', () => {
    const short = takeBuffer(100)
    short.bytes.fill('a')
    short.release()
    takeBuffer(100).bytes.fill('b')

    expect(short.bytes.toString()).toBe('a'.repeat(100))
  })

  test('is kept free in a bounded number', () => {
    const buffers = Array.from({ length: 200 }, () => takeBuffer(large))
    const known = new Set(buffers.map(({ bytes }) => bytes.buffer))
    for (const { release } of buffers) release()

    const again = Array.from({ length: 200 }, () => takeBuffer(large))
    expect(again.filter(({ bytes }) => known.has(bytes.buffer))).toHaveLength(64)
  })
})
