import { expect, test } from 'vitest'
import { fieldStart } from '../../src/wire/header-fields.ts'
import { rememberNames } from '../../src/wire/remembered-names.ts'

test('a name is judged once', () => {
  const judged: string[] = []
  const judge = rememberNames((name) => judged.push(name))

  judge('Accept')
  judge('Accept')

  expect(judged).toEqual(['Accept'])
})

test('what could be kept for nobody but an attacker is judged each time', () => {
  const judged: string[] = []
  const judge = rememberNames((name) => judged.push(name))
  const long = 'x'.repeat(65)

  judge(long)
  judge(long)

  expect(judged).toEqual([long, long])
})

test('what Latin-1 does not have is not taken for another name', () => {
  // Its low byte is the letter A.
  const judge = rememberNames((name) => name)

  expect(judge('X\u0141')).toBe('X\u0141')
  expect(fieldStart('X\u0141')).toBeUndefined()
  expect(fieldStart('XA')).toBe('\r\nXA: ')
})
