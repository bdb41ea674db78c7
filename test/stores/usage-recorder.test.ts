import { describe, expect, test } from 'vitest'
import type { Decision } from '../../src/policy/engine/decision.ts'
import type { RefusedCall } from '../../src/policy/usage/usage.ts'
import type { UsageBatch } from '../../src/stores/usage/usage-entry.ts'
import { createUsageRecorder } from '../../src/stores/usage/usage-recorder.ts'
import { until } from '../support/until.ts'

const revision = 'r-0123456789ab'
const admin: Decision = { allowed: true, step: 'admin', revision }

function recording({ size = 1 } = {}) {
  const stored: UsageBatch[] = []
  const lines: string[] = []
  let taken = 0
  let failing = false
  const recorder = createUsageRecorder({
    store: {
      async add(batch) {
        if (failing) throw new Error('Redis is unreachable')
        stored.push(batch)
      },
    },
    take: () => {
      taken++
      return {
        decisions: new Map([[admin, { count: 1 }]]),
        roles: new Map(Array.from({ length: size }, (_, at) => [`role-${at}`, { count: 1 }])),
        refusals: new Map<string, RefusedCall & { count: number }>(),
        others: { decision: 0, role: 2, refusal: 0 },
      }
    },
    revision: () => revision,
    now: () => Date.parse('2026-11-16T14:30:00Z'),
    log: {
      info: (_, text) => lines.push(text),
      warn: (_, text) => lines.push(text),
    },
  })
  return {
    recorder,
    stored,
    lines,
    taken: () => taken,
    fail: (value: boolean) => (failing = value),
  }
}

describe('the usage recorder', () => {
  test('stores what is left at the end, in batches of a bounded size', async () => {
    const { recorder, stored } = recording({ size: 450 })

    await recorder.close()

    expect(stored.map(({ entries }) => entries.length)).toEqual([200, 200, 53])
    expect(new Set(stored.map(({ id }) => id)).size).toBe(3)
    expect(stored[0]?.entries[0]).toEqual({ kind: 'observed', name: `14 ${revision}`, count: 1 })
    expect(stored[2]?.entries.at(-1)).toEqual({ kind: 'role', name: '*', count: 2 })
    expect(recorder.state()).toEqual({ failures: 0, uncounted: 2 })
  })

  test('takes nothing more while the store fails, says so once, and sends the same batch later', async () => {
    const { recorder, stored, lines, taken, fail } = recording()
    fail(true)
    for (const failures of [1, 2, 3]) {
      recorder.flush()
      await until(() => recorder.state().failures >= failures)
    }

    expect(taken()).toBe(1)
    fail(false)
    recorder.flush()
    await until(() => stored.length === 2)
    await recorder.close()

    expect(lines).toEqual(['policy usage not stored', 'policy usage stored again'])
    expect(stored).toHaveLength(3)
  })
})
