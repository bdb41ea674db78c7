import { describe, expect, test } from 'vitest'
import { changesIn } from '../../console/src/lib/changes.ts'
import { isAtLeast } from '../../console/src/lib/console-roles.ts'
import { texts } from '../../console/src/pages/logins/texts.ts'
import { loginList } from '../../src/operations/logins/descriptions.ts'

describe('a recorded change', () => {
  test('shows what differs, what is new and what is gone', () => {
    expect(
      changesIn(
        { role: 'viewer', userId: '7', left: true },
        { role: 'editor', userId: '7', more: 1 },
      ),
    ).toEqual([
      { name: 'role', from: 'viewer', to: 'editor' },
      { name: 'left', from: 'true', to: undefined },
      { name: 'more', from: undefined, to: '1' },
    ])
  })

  test('may have no state before, after or at all', () => {
    expect(changesIn(null, { role: 'editor' })).toEqual([
      { name: 'role', from: undefined, to: 'editor' },
    ])
    expect(changesIn(null, null)).toEqual([])
    expect(changesIn('text', 7)).toEqual([])
  })
})

test('a console role may do what those below it may', () => {
  expect(isAtLeast('publisher', 'author')).toBe(true)
  expect(isAtLeast('author', 'author')).toBe(true)
  expect(isAtLeast('reader', 'author')).toBe(false)
})

test('the login log names every outcome in both languages', () => {
  const { choices } = loginList.input.outcome

  expect(Object.keys(texts.en.outcomes)).toEqual([...choices])
  expect(Object.keys(texts.zh.outcomes)).toEqual([...choices])
})
