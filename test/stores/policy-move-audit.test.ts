import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readAudit } from '../../src/stores/audit/read-audit.ts'
import type { Database } from '../../src/stores/database/database.ts'
import type { Move } from '../../src/stores/policies/document/policy-keys.ts'
import { createMoveTable } from '../../src/stores/policies/moves/move-table.ts'
import { person, signedBy, trusting } from '../signing/key-pairs.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

const at = '2026-11-16T00:00:00.000Z'
const revisionOf = (sequence: number) => `r-${String(sequence).padStart(12, '0')}`

function moveOf(sequence: number, more: Partial<Move> = {}): Move {
  const revision = revisionOf(sequence)
  return {
    ...{ revision, sequence, author: 'ada', message: 'why', at, kind: 'push' },
    ...{ id: `id-${sequence}`, ...more },
  }
}

describe.each(testDatabases())('moves of the policy in $name', ({ start }) => {
  let server: RunningDatabase
  let database: Database
  beforeAll(async () => {
    server = await start()
    database = await server.fresh()
  })
  afterAll(() => server.stop())

  async function audited(subject: string) {
    const [{ id: _, at: __, ...record } = {}] = await readAudit(database, { subject, limit: 1 })
    return record
  }

  test('are in the audit log, with what they replaced, and oldest first', async () => {
    const table = createMoveTable(database, '{0}:')
    await table.add([moveOf(2, { origin: 'laptop' }), moveOf(1)])
    await table.add([moveOf(3, { kind: 'rollback', revision: revisionOf(1) })])

    const records = await readAudit(database, { action: 'policy', limit: 10 })

    expect(records.map(({ id: _, at: __, ...record }) => record)).toEqual([
      {
        actor: { kind: 'operator', name: 'ada', origin: 'unknown' },
        ...{ action: 'policy.rollback', subject: revisionOf(1) },
        before: { revision: revisionOf(2) },
        after: { revision: revisionOf(1), message: 'why', at, author: 'unverified' },
      },
      {
        actor: { kind: 'operator', name: 'ada', origin: 'laptop' },
        ...{ action: 'policy.push', subject: revisionOf(2) },
        before: { revision: revisionOf(1) },
        after: { revision: revisionOf(2), message: 'why', at, author: 'unverified' },
      },
      {
        actor: { kind: 'operator', name: 'ada', origin: 'unknown' },
        ...{ action: 'policy.push', subject: revisionOf(1), before: null },
        after: { revision: revisionOf(1), message: 'why', at, author: 'unverified' },
      },
    ])
  })

  test('name the publisher of a proposal, and who proposed it', async () => {
    await createMoveTable(database, '{6}:').add([moveOf(601, { publisher: 'ben' })])

    expect(await audited(revisionOf(601))).toMatchObject({
      actor: { kind: 'operator', name: 'ben', origin: 'unknown' },
      after: { proposedBy: 'ada', author: 'unverified' },
    })
  })

  test('are there once, however many gateways copy them', async () => {
    const moves = Array.from({ length: 20 }, (_, index) => moveOf(120 - index))
    const replicas = Array.from({ length: 4 }, () => createMoveTable(database, '{1}:'))

    await Promise.all(replicas.map((table, index) => table.add(moves.slice(index))))

    const records = await readAudit(database, { action: 'policy.push', limit: 1000 })
    const subjects = records.map(({ subject }) => subject)
    const copied = moves.map(({ revision }) => subjects.filter((each) => each === revision).length)
    expect(copied).toEqual(moves.map(() => 1))
  })

  test('replace what this prefix had, also after a Redis that lost its data', async () => {
    await createMoveTable(database, '{2}:').add([moveOf(201)])
    await createMoveTable(database, '{other}:').add([moveOf(202)])
    await createMoveTable(database, '{2}:').add([moveOf(203)])

    expect(await audited(revisionOf(203))).toMatchObject({ before: { revision: revisionOf(201) } })
  })

  test('say who signed them, and nothing of signatures of another move', async () => {
    const [ann, eve] = [person('ann'), person('eve')]
    const table = createMoveTable(database, '{3}:', { trust: trusting([ann]) })
    const said = { author: 'ada', message: 'why' }
    const signed = (by: typeof ann, revision: string) => signedBy([by], { ...said, revision })

    await table.add([
      moveOf(301, { signed: signed(ann, revisionOf(301)) }),
      moveOf(302, { signed: signed(ann, revisionOf(301)) }),
      moveOf(303, { signed: signed(eve, revisionOf(303)) }),
    ])

    expect(await audited(revisionOf(301))).toMatchObject({ after: { signers: ['ann'] } })
    expect(await audited(revisionOf(302))).toMatchObject({ after: { author: 'unverified' } })
    expect(await audited(revisionOf(303))).toMatchObject({ after: { author: 'unverified' } })
  })

  test('keep the log bounded and readable, whatever Redis contains', async () => {
    const hostile = {
      ...{ message: 'x'.repeat(100_000), author: '\0\ud800'.repeat(500), origin: 'o'.repeat(9999) },
      kind: 'constructor' as Move['kind'],
    }

    await createMoveTable(database, '{4}:').add([moveOf(401, hostile), moveOf(402)])

    const record = await audited(revisionOf(401))
    expect(record).toMatchObject({ action: 'policy.push' })
    expect(JSON.stringify(record).length).toBeLessThan(3000)
  })

  test('are copied although the audit log is missing', async () => {
    const fresh = await server.fresh()
    await sql`drop table postern_audit`.execute(fresh.db)
    const table = createMoveTable(fresh, '{5}:')

    await table.add([moveOf(1)])

    expect(await table.list(10)).toEqual([moveOf(1)])
  })
})
