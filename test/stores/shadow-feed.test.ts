import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Fault } from '../../src/kernel/errors.ts'
import type { CompiledPolicies } from '../../src/policy/engine/decision.ts'
import { createShadowFeed } from '../../src/stores/policies/shadow/shadow-feed.ts'
import type { OwnShadowReport } from '../../src/stores/policies/shadow/shadow-reports.ts'
import { until } from '../support/until.ts'

const counts = { evaluated: 0, wouldDeny: 0, wouldAllow: 0, failed: 0 }

const stored = (revision: string, sequence: number) =>
  JSON.stringify({ revision, sequence, author: 'ada', message: 'to see' })

/** A feed whose loading, reports and live revision the test decides about. */
function feed() {
  const loads: { revision: string; signal: AbortSignal; end: (error?: Error) => void }[] = []
  const calls: string[] = []
  const reported: (Omit<OwnShadowReport, 'evidence'> & { readonly sequence: number })[] = []
  const logged: string[] = []
  const parts = { live: 'r-00000000000a', refuses: false }
  const shadow = createShadowFeed({
    load: ({ revision }, signal) =>
      new Promise((resolve, reject) => {
        const compiled = { revision, ruleCount: 1, engine: { name: 'index' } }
        const end = (error?: Error) =>
          error === undefined ? resolve(compiled as CompiledPolicies) : reject(error)
        loads.push({ revision, signal, end })
      }),
    evaluation: {
      start: ({ revision }, sequence) => void calls.push(`start ${revision} ${sequence}`),
      stop: () => void calls.push('stop'),
      counts: () => counts,
      evidence: () => ({ ...counts, against: [], disagreements: [] }),
    },
    reports: {
      async report({ evidence: _, ...own }, sequence) {
        if (parts.refuses) throw new Fault('redis', { reason: 'Redis: away' })
        reported.push({ ...own, sequence })
        return true
      },
      list: async () => [],
    },
    live: () => parts.live,
    log: {
      info: (_, message) => void logged.push(message),
      warn: (_, message) => void logged.push(message),
    },
  })
  onTestFinished(shadow.close)
  const find = async (text: string | undefined) => {
    shadow.found(text)
    shadow.settle()
    await turn()
  }
  return { shadow, parts, loads, calls, reported, logged, find }
}

const [first, second] = ['r-0000000000f1', 'r-0000000000f2']

describe('a shadow feed', () => {
  test('loads what it finds once, and evaluates it', async () => {
    const { shadow, loads, calls, find } = feed()

    await find(stored(first, 1))
    await find(stored(first, 1))
    loads[0]?.end()
    await turn()
    await find(stored(first, 1))

    expect(loads).toHaveLength(1)
    expect(calls.filter((call) => call !== 'stop')).toEqual([`start ${first} 1`])
    expect(shadow.state()).toMatchObject({ revision: first, since: expect.any(String) })
  })

  test('does nothing before the live policy had its turn', async () => {
    const { shadow, loads } = feed()

    shadow.found(stored(first, 1))
    await turn()

    expect(loads).toEqual([])
    expect(shadow.state()).toBeUndefined()
  })

  test('aborts the loading of one that was replaced', async () => {
    const { loads, calls, find } = feed()

    await find(stored(first, 1))
    await find(stored(second, 2))
    loads[0]?.end()
    loads[1]?.end()
    await turn()

    expect(loads[0]?.signal.aborted).toBe(true)
    expect(calls.filter((call) => call !== 'stop')).toEqual([`start ${second} 2`])
  })

  test('ends it when Redis has none any more, and when its revision is live', async () => {
    const { shadow, parts, loads, calls, logged, find } = feed()
    await find(stored(first, 1))
    loads[0]?.end()
    await turn()

    parts.live = first
    await find(stored(first, 1))
    const whileLive = shadow.state()
    parts.live = 'r-00000000000b'
    await find(stored(first, 1))
    loads[1]?.end()
    await turn()
    const afterRollback = shadow.state()
    await find(undefined)

    expect(whileLive).toBeUndefined()
    expect(afterRollback).toMatchObject({ revision: first })
    expect(shadow.state()).toBeUndefined()
    expect(calls.at(-1)).toBe('stop')
    expect(logged.filter((line) => line === 'shadow policy ended')).toHaveLength(2)
  })

  test('says why one cannot be loaded, and tries again later, not at every poll', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { shadow, loads, calls, reported, find } = feed()
    shadow.report('gw-1')
    await find(stored(first, 1))
    loads[0]?.end(new Fault('policies', { reason: 'too large' }))
    await turn()
    await find(stored(first, 1))
    const early = loads.length
    await until(() => reported.length > 0)
    vi.advanceTimersByTime(30_000)
    await find(stored(first, 1))
    loads[1]?.end()
    await turn()

    expect(early).toBe(1)
    expect(reported[0]).toEqual({ id: 'gw-1', evaluatingMs: 0, problem: 'too large', sequence: 1 })
    expect(calls.filter((call) => call !== 'stop')).toEqual([`start ${first} 1`])
    expect(shadow.state()?.lastError).toBeUndefined()
  })

  test.each(['x', '[]', '{"revision":"r-1"}', stored(first, -1), stored('r-XYZ', 1)])(
    'ignores %j, and says so once',
    async (text) => {
      const { shadow, loads, logged, find } = feed()

      await find(text)
      await find(text)

      expect(loads).toEqual([])
      expect(shadow.state()).toBeUndefined()
      expect(logged).toEqual(['stored shadow is invalid; end it with "postern policy shadow end"'])
    },
  )

  test('reports at the end, and survives a Redis that refuses', async () => {
    const { shadow, parts, loads, reported, logged, find } = feed()
    shadow.report('gw-1')
    await find(stored(first, 1))
    parts.refuses = true
    loads[0]?.end()
    await until(() => logged.includes('shadow report failed'))
    parts.refuses = false

    await shadow.close()

    expect(reported.at(-1)).toMatchObject({ id: 'gw-1', sequence: 1 })
  })
})
