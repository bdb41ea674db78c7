import { describe, expect, test } from 'vitest'
import { refusalLimits } from '../../src/gateway/evidence/refusal-counter.ts'
import { createUsageCounter, usageLimits } from '../../src/gateway/evidence/usage-counter.ts'
import type { Identified } from '../../src/gateway/stages.ts'
import type { Decision } from '../../src/policy/decide.ts'

const revision = 'r-000000000001'
const allowed: Decision = { allowed: true, step: 'admin', revision }
const none: Decision = { allowed: false, step: 'none', revision }

function call(path: string, { role = 'clerk', route }: { role?: string; route?: string } = {}) {
  return {
    received: { call: { method: 'GET', path }, ...(route && { route: { path: route } }) },
    token: { caller: { roleKey: role } },
  } as unknown as Identified
}

function counter({ showPaths = true } = {}) {
  let full = 0
  const counted = createUsageCounter({ showPaths, onFull: () => full++ })
  return { ...counted, full: () => full }
}

const counts = <Key>(map: ReadonlyMap<Key, { readonly count: number }>) =>
  [...map].map(([key, { count }]) => [key, count])

describe('the usage counter', () => {
  test('counts decisions by identity and roles by key, and starts again after each take', () => {
    const { observe, onIdentified, take } = counter()

    for (const identified of [call('/a'), call('/b'), call('/c', { role: 'boss' })]) {
      onIdentified(identified)
      observe(identified, allowed)
    }

    const { decisions, roles, refusals, others } = take()
    expect(counts(decisions)).toEqual([[allowed, 3]])
    expect(counts(roles)).toEqual([
      ['clerk', 2],
      ['boss', 1],
    ])
    expect(refusals.size).toBe(0)
    expect(others).toEqual({ decision: 0, role: 0, refusal: 0 })
    expect(take().decisions.size).toBe(0)
  })

  test('counts refusals by role, method and the shape of the path', () => {
    const { observe, take } = counter()

    observe(call('/orders/7'), none)
    observe(call('/orders/8'), none)
    observe(call('/orders/8', { role: 'boss' }), none)

    expect([...take().refusals.values()]).toEqual([
      { roleKey: 'clerk', method: 'GET', path: '/orders/:id', count: 2 },
      { roleKey: 'boss', method: 'GET', path: '/orders/:id', count: 1 },
    ])
  })

  test('counts refusals of each domain, but by route without it, and none of a domain without end', () => {
    const { observe, take } = counter()
    const inDomain = (domain: string, at: number) => {
      const { received, token } = call(`/a${at}`, { route: '/' })
      return { received, token: { ...token, domain } } as unknown as Identified
    }

    observe(inDomain('north', 1), none)
    observe(inDomain('south', 1), none)
    observe(inDomain('x'.repeat(254), 1), none)
    const { refusals, others } = take()

    expect([...refusals.values()].map(({ domain, path }) => [domain, path])).toEqual([
      ['north', '/a1'],
      ['south', '/a1'],
    ])
    expect(others.refusal).toBe(1)
    // A scan of hosts fills no entry that routes need.
    const scan = refusalLimits.pathsOfRole * 2
    for (let at = 0; at < scan; at++) observe(inDomain(`host-${at}`, 1), none)
    const all = [...take().refusals.values()]
    expect(all).toEqual([{ roleKey: 'clerk', method: 'GET', route: '/', count: scan }])
  })

  test('keeps only the route where the decision log must not show paths', () => {
    const { observe, take } = counter({ showPaths: false })

    observe(call('/orders/secret', { route: '/orders' }), none)

    expect([...take().refusals.values()]).toEqual([
      { roleKey: 'clerk', method: 'GET', route: '/orders', count: 1 },
    ])
  })

  test('a scan by one role hides neither what it calls again nor the paths of others', () => {
    const { observe, take } = counter()

    for (let at = 0; at < 3; at++) observe(call('/orders', { route: '/' }), none)
    for (let at = 0; at < 10_000; at++) observe(call(`/x${at}x`, { route: '/' }), none)
    observe(call('/secret', { role: 'guest', route: '/' }), none)

    expect([...take().refusals.values()]).toEqual([
      { roleKey: 'clerk', method: 'GET', path: '/orders', route: '/', count: 3 },
      { roleKey: 'clerk', method: 'GET', route: '/', count: 10_000 },
      { roleKey: 'guest', method: 'GET', path: '/secret', route: '/', count: 1 },
    ])
  })

  test('scans by many roles are counted by route, then as one number', () => {
    const { observe, take } = counter()

    for (let at = 0; at < 20_000; at++) {
      observe(call(`/x${at}x`, { role: `role-${at % 50}`, route: `/r${at}` }), none)
    }

    const { refusals, others } = take()
    const entries = [...refusals.values()]
    expect(entries).toHaveLength(refusalLimits.entries)
    expect(entries.filter(({ path }) => path !== undefined)).toHaveLength(refusalLimits.paths)
    expect(others.refusal).toBe(20_000 - entries.reduce((sum, { count }) => sum + count, 0))
  })

  test('bounds decisions and roles, and asks to be emptied once', () => {
    const { observe, onIdentified, take, full } = counter()

    for (let at = 0; at < usageLimits.decisions + 5; at++) {
      observe(call('/a'), { ...allowed })
      onIdentified(call('/a', { role: `role-${at}` }))
    }
    onIdentified(call('/a', { role: 'x'.repeat(5000) }))

    const { decisions, roles, others } = take()
    expect(decisions.size).toBe(usageLimits.decisions)
    expect(roles.size).toBe(usageLimits.roles)
    expect(others.decision).toBe(5)
    expect(others.role).toBe(usageLimits.decisions + 6 - usageLimits.roles)
    expect(full()).toBe(1)
  })
})
