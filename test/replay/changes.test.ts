import { describe, expect, test } from 'vitest'
import { decide } from '../../src/policy/decide.ts'
import { type AskedRecord, createChanges } from '../../src/replay/changes.ts'
import { policies } from '../policy/policy-text.ts'

const compiled = policies({ lines: ['p, clerk, /orders, GET'] })

/** Allowed then by this line; no rule allows it now. */
function lost(line: number, userId: string | undefined, more: Partial<AskedRecord> = {}) {
  const record: AskedRecord = {
    at: '2026-11-15T07:49:53.558Z',
    requestId: 'q',
    revision: 'r-1',
    userId,
    roleKey: 'clerk',
    host: undefined,
    method: 'PUT',
    path: '/orders',
    result: 'allow',
    step: 'rule',
    rule: { file: 'policy.csv', line },
    ...more,
  }
  return [record, decide(record, compiled)] as const
}

describe('the changes of a replay', () => {
  test('count users exactly up to a limit, and say so above it', () => {
    const { add, result } = createChanges({ groups: 10, users: 3, texts: 1000 })
    for (const user of ['1', '2', '1', '3']) add(...lost(1, user))
    for (const user of ['1', '2', '1', '3', '4', '5']) add(...lost(2, user))

    const [above, exact] = result().changes

    expect(exact?.users).toMatchObject({ count: 3, isExact: true })
    expect(above).toMatchObject({ calls: 6, users: { count: 3, isExact: false } })
  })

  test('keep a bounded number of texts in all groups together', () => {
    const { add, result } = createChanges({ groups: 100, users: 1000, texts: 50 })
    for (let at = 0; at < 1000; at++) add(...lost(at % 10, String(at)))

    const { changes } = result()
    const known = changes.flatMap(({ users, roles, methods, before }) => [
      ...[users.count, roles.count, methods.count, before.revisions.count],
    ])

    expect(Math.min(...known)).toBe(1)
    expect(known.reduce((sum, each) => sum + each)).toBeLessThan(100)
    expect(changes.map(({ calls }) => calls)).toEqual(Array(10).fill(100))
  })

  test('are a bounded number of groups; the calls of others are counted', () => {
    const { add, result } = createChanges({ groups: 2, users: 10, texts: 1000 })
    for (const line of [1, 2, 3, 3, 1]) add(...lost(line, '7'))

    const { changes, unlisted } = result()

    expect(changes.map(({ calls, before }) => [before.rule?.line, calls])).toEqual([
      [1, 2],
      [2, 1],
    ])
    expect(unlisted).toEqual({ deny: 2, allow: 0 })
  })

  test('tell long texts apart, and cut those that they keep', () => {
    const long = (end: string) => `${'x'.repeat(100_000)}${end}`
    const { add, result } = createChanges()
    const at = (file: string) => ({ rule: { file, line: 1 }, path: `/${long('a')}` })
    for (const user of ['a', 'b', 'a']) add(...lost(1, long(user), at(long('c'))))
    add(...lost(1, long('a'), at(long('d'))))

    const { changes } = result()

    expect(changes.map(({ calls, users }) => [calls, users.count])).toEqual([
      [3, 2],
      [1, 1],
    ])
    expect(JSON.stringify(changes).length).toBeLessThan(20_000)
  })

  test('have no time if no record has one', () => {
    const { add, result } = createChanges()
    add(...lost(1, undefined, { at: undefined }))
    add(...lost(1, undefined, { at: '2026-99-99T99:99:99.999Z' }))

    expect(result().changes[0]).toMatchObject({ calls: 2, first: undefined, last: undefined })
  })
})
