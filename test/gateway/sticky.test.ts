import { expect, test } from 'vitest'
import { prepareSticky } from '../../src/gateway/upstream/sticky.ts'
import type { Target } from '../../src/gateway/upstream/target.ts'

const target = (name: string, weight = 1) => ({ name, weight }) as Target
const place = { path: '/a', upstream: 'shop' }
const targets = Array.from({ length: 5 }, (_, at) => target(`http://10.0.0.${at}:80`))
const users = Array.from({ length: 5000 }, (_, at) => String(at))

const homesAmong = (candidates: readonly Target[], key: string | undefined = 'k') => {
  const sticky = prepareSticky({ by: 'user' }, place, { key: () => key, secure: true })
  return users.map((who) => sticky.choiceFor({ who, values: [] })?.stick?.(candidates)?.name)
}

test('users are spread by weight', () => {
  const homes = homesAmong([target('a'), target('b', 3)])
  const share = homes.filter((name) => name === 'b').length / users.length
  expect(share).toBeGreaterThan(0.72)
  expect(share).toBeLessThan(0.78)
})

test('only users of a lost target move, to all others, in whatever order targets are listed', () => {
  const before = homesAmong(targets)
  const after = homesAmong([...targets.slice(1)].reverse())
  const moved = after.filter((_, at) => before[at] === targets[0]?.name)
  expect(new Set(moved).size).toBe(4)
  expect(after.filter((name, at) => name !== before[at])).toHaveLength(moved.length)
})

test('cookie values depend on the key, and nothing is set without one', () => {
  const [first] = targets as [Target]
  let key: string | undefined = 'one'
  const sticky = prepareSticky({ by: 'cookie' }, place, { key: () => key, secure: false })
  const setCookie = () => {
    const headers: string[] = []
    sticky.choiceFor({ who: 'a', values: [] })?.mark?.(headers, first)
    return headers[1]
  }
  const old = setCookie()
  expect(old).toMatch(/^postern-target=[\w-]{22}; Path=\/a; HttpOnly; SameSite=Lax$/)
  key = 'two'
  expect(setCookie()).not.toBe(old)
  key = undefined
  expect(setCookie()).toBeUndefined()
})
