import { PassThrough } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createRelay } from '../../src/workers/relay.ts'

/** A relay of so many processes, and what it has passed on. */
function relayOf(count: number) {
  const passed: string[] = []
  const relay = createRelay()
  const outputs = Array.from({ length: count }, () => {
    const output = new PassThrough()
    relay.take(output, (lines) => void passed.push(lines))
    return output
  })
  const [first = new PassThrough(), second = new PassThrough()] = outputs
  return { relay, first, second, text: () => passed.join('') }
}

describe('what several processes write', () => {
  test('is passed on in whole lines, however it comes in pieces', async () => {
    const { relay, first, second, text } = relayOf(2)
    const euro = Buffer.from('a line of 5 €\n')

    first.write(euro.subarray(0, 12))
    second.write('another\nand half ')
    await pause(5)
    expect(text()).toBe('another\n')
    first.write(euro.subarray(12))
    second.write('of one\n')
    first.end()
    second.end()
    await relay.drained()

    expect(text()).toBe('another\na line of 5 €\nand half of one\n')
  })

  test('ends with half a line where one was killed, which no other line is glued to', async () => {
    const { relay, first, second, text } = relayOf(2)

    first.write('half a li')
    first.destroy()
    await pause(5)
    second.end('a whole one\n')
    await relay.drained()

    expect(text()).toBe('half a li\na whole one\n')
  })

  test('is not held for ever where it never ends a line', async () => {
    const { first, text } = relayOf(1)

    for (let piece = 0; piece < 20; piece++) first.write('x'.repeat(100_000))
    await pause(5)

    expect(text().length).toBeGreaterThan(1024 * 1024)
  })

  test('is waited for, but not for ever, when it stays open', async () => {
    const { relay, first, text } = relayOf(1)

    setTimeout(() => first.write('late\n'), 20)
    await relay.drained()

    expect(text()).toBe('late\n')
  })
})
