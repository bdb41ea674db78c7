import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Fault } from '../../src/kernel/errors.ts'
import { createAuditQueue } from '../../src/stores/audit/audit-queue.ts'
import { readAudit } from '../../src/stores/audit/read-audit.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { clock } from '../../src/stores/database/dialect.ts'
import { until } from '../support/until.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

let server: RunningDatabase
let database: Database
beforeAll(async () => {
  server = (await testDatabases()[0]?.start()) ?? server
  database = await server.fresh()
})
afterAll(() => server.stop())

function entryOf(subject: string, after: object = { kids: ['a'] }, origin = 'pod-1') {
  const actor = { kind: 'gateway', name: 'postern', origin } as const
  return { actor, action: 'keys.load', subject, after: { ...after } } as const
}

/** A queue on a database that can be unreachable, and what it logged. */
function openQueue({ maxWaiting = 1000 } = {}) {
  const reachable = { is: true }
  const lines: unknown[] = []
  const log = {
    info: (fields: object, text: string) => void lines.push([text, fields]),
    warn: (fields: object, text: string) => void lines.push([text, fields]),
  }
  const shapes = async () => {
    if (reachable.is) return database.shapes()
    throw new Fault('database', { reason: 'database: down' })
  }
  const queue = createAuditQueue({ database: { db: database.db, shapes }, log, maxWaiting })
  return { queue, reachable, lines }
}

const found = async (subject: string) =>
  (await readAudit(database, { subject, limit: 100 })).toReversed()

describe('the queue of audit entries', () => {
  test('writes in order, and at the time of the change', async () => {
    const { queue, reachable, lines } = openQueue()
    reachable.is = false
    queue.add(entryOf('order', { n: 1 }))
    queue.add(entryOf('order', { n: 2 }))
    await until(() => lines.length === 1)
    await new Promise((done) => setTimeout(done, 50))
    reachable.is = true
    await until(() => queue.state().waiting === 0)
    const { rows } = await sql<{ now: Date }>`select ${clock} as "now"`.execute(database.db)
    await queue.close()

    const written = await found('order')
    expect(written.map(({ after }) => after)).toEqual([{ n: 1 }, { n: 2 }])
    for (const { at } of written) {
      expect(Date.parse(at)).toBeLessThanOrEqual(Number(rows[0]?.now) - 50)
    }
    expect(lines).toEqual([
      ['audit entries wait for the database', { reason: 'database: down' }],
      ['audit entries recorded again', {}],
    ])
  })

  test('is bounded: it drops, counts and logs what exceeds it', async () => {
    const { queue, reachable, lines } = openQueue({ maxWaiting: 2 })
    reachable.is = false
    for (const n of [1, 2, 3]) queue.add(entryOf('bounded', { n }))

    expect(queue.state()).toEqual({ waiting: 2, dropped: 1 })
    expect(lines).toContainEqual([
      'audit entry dropped',
      {
        ...{ action: 'keys.load', subject: 'bounded', dropped: 1 },
        reason: '2 entries wait already',
      },
    ])
    reachable.is = true
    await queue.close()
    expect((await found('bounded')).map(({ after }) => after)).toEqual([{ n: 1 }, { n: 2 }])
  })

  test('says what it could not write before the gateway ends', async () => {
    const { queue, reachable, lines } = openQueue()
    reachable.is = false
    queue.add(entryOf('ends'))

    await queue.close()

    expect(queue.state().dropped).toBe(1)
    expect(lines.at(-1)).toEqual([
      'audit entry dropped',
      expect.objectContaining({ subject: 'ends', reason: 'database: down' }),
    ])
  })
})

describe('what a gateway finds at its start', () => {
  async function start(...entries: readonly ReturnType<typeof entryOf>[]) {
    const queues = entries.map((entry) => {
      const { queue } = openQueue()
      queue.add(entry, { ifNew: true })
      return queue
    })
    await until(() => queues.every((queue) => queue.state().waiting === 0))
    for (const queue of queues) await queue.close()
  }
  const [old, renewed] = [{ kids: ['a'] }, { kids: ['a', 'b'] }]

  test('is recorded once for all replicas that start together', async () => {
    const hosts = ['pod-1', 'pod-2', 'pod-3']

    await start(...hosts.map((host) => entryOf('together', old, host)))

    expect(await found('together')).toMatchObject([{ before: null, after: old }])
  })

  test('is recorded when it changed while no gateway ran', async () => {
    await start(entryOf('restart', old))
    await start(entryOf('restart', old))
    await start(entryOf('restart', renewed))
    await start(entryOf('restart', renewed, 'pod-2'))

    expect(await found('restart')).toMatchObject([
      { before: null, after: old },
      { before: old, after: renewed },
    ])
  })

  test('is not recorded again by a host that is behind the others', async () => {
    await start(entryOf('rollout', old, 'pod-1'))
    await start(entryOf('rollout', renewed, 'pod-2'))

    await start(entryOf('rollout', old, 'pod-1'))

    expect(await found('rollout')).toHaveLength(2)
  })
})
