import { expect, test } from 'vitest'
import { createLru } from '../src/kernel/lru.ts'

test('what was used least recently goes first, and its owner is told', () => {
  const dropped: number[] = []
  const kept = createLru<number>(2, (value) => dropped.push(value))

  kept.set('a', 1)
  kept.set('b', 2)
  kept.get('a')
  kept.set('c', 3)

  expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual([1, undefined, 3])
  expect(dropped).toEqual([2])
})

test('what is deleted is gone, and nothing is there before the first', () => {
  const kept = createLru<number>(2)

  kept.delete('a')
  expect(kept.get('a')).toBeUndefined()
  kept.set('a', 1)
  kept.delete('a')

  expect(kept.get('a')).toBeUndefined()
})
