import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../src/stores/database/database.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import type { Move } from '../../src/stores/policies/document/policy-keys.ts'
import { mergeMoves } from '../../src/stores/policies/moves/merge-moves.ts'
import { createMoveCopies } from '../../src/stores/policies/moves/move-copies.ts'
import { createMoveTable, type MoveTable } from '../../src/stores/policies/moves/move-table.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'
import { everyDatabase, limits, type RunningDatabase } from './test-databases.ts'

const prefix = '{test}:'

function moveOf(sequence: number, more: Partial<Move> = {}): Move {
  const revision = `r-${String(sequence).padStart(12, '0')}`
  const said = { author: 'ada', message: 'why', at: '2026-11-16T00:00:00.000Z', kind: 'push' }
  return {
    revision,
    sequence,
    ...(said as Pick<Move, 'author'>),
    id: `id-${sequence}`,
    ...more,
  } as Move
}

describe.each(everyDatabase())('the history in $name', ({ start }) => {
  let server: RunningDatabase
  let database: Database
  beforeAll(async () => {
    server = await start()
    database = await server.fresh()
  })
  afterAll(() => server.stop())

  test('has each move once, as it was first added, newest first', async () => {
    const table = createMoveTable(database, '{0}:')
    await table.add([moveOf(2), moveOf(1)])

    await table.add([moveOf(3), moveOf(2, { author: 'eve' })])

    expect(await table.list(10)).toEqual([moveOf(3), moveOf(2), moveOf(1)])
    expect(await table.list(1)).toEqual([moveOf(3)])
    expect([await table.has(moveOf(3)), await table.has(moveOf(4))]).toEqual([true, false])
  })

  test('holds whatever people and attackers write', async () => {
    const table = createMoveTable(database, '{1}:')
    const moves = [
      moveOf(4, { message: '\0 \ud800 \u2028 \'" \\u0000 {"', author: '' }),
      moveOf(3, { id: 'x'.repeat(5000) }),
      moveOf(2, { id: '\0', evidence: { nested: { deep: ['\0'] } } }),
    ]
    const { id: _, ...old } = moveOf(1)

    await table.add([...moves, old, moveOf(9, { message: 'x'.repeat(200_000) })])

    expect(await table.list(10)).toEqual([...moves, old])
    expect(await table.has(old)).toBe(true)
  })

  test('is kept apart for each prefix', async () => {
    await createMoveTable(database, '{staging}:').add([moveOf(1)])

    expect(await createMoveTable(database, prefix).list(10)).toEqual([])
  })

  test('is bounded, and says so', async () => {
    const table = createMoveTable(database, '{2}:', { maxMoves: 2 })
    await table.add([moveOf(1), moveOf(2)])

    await expect(table.add([moveOf(3)])).rejects.toThrow(
      'postern_policy_move has 2 publications: delete',
    )
  })

  test('is empty where the table does not exist', async () => {
    await sql`drop table postern_policy_move`.execute(database.db)

    expect(await createMoveTable(database, prefix).list(10)).toEqual([])
  })
})

test('a user of PostgreSQL who may not create tables starts without the history', async () => {
  const server = await startPostgres()
  onTestFinished(server.stop)
  const open = (url: string) => openDatabase({ url, directory: '', ...limits })
  const first = await open(server.url)
  await sql`drop table postern_policy_move`.execute(first.db)
  await sql
    .raw(`
    create role clerk login; revoke create on schema public from public;
    grant all on all tables in schema public to clerk;
    grant all on all sequences in schema public to clerk;`)
    .execute(first.db)
  await first.close()

  const database = await open(server.url.replace('postern@', 'clerk@'))
  onTestFinished(database.close)

  await expect(createMoveTable(database, prefix).has(moveOf(1))).rejects.toThrow('does not exist')
})

describe('a gateway', () => {
  /** A table in memory, and how often it was asked. */
  function memoryTable(kept: Move[] = []) {
    const asked = { has: 0, add: 0 }
    const table: MoveTable = {
      async has(move) {
        asked.has++
        return kept.some(({ id }) => id === move.id)
      },
      async add(moves) {
        asked.add++
        kept.push(...moves)
      },
      list: async () => kept,
    }
    return { table, kept, asked }
  }
  const lines: unknown[] = []
  const log = {
    info: (...line: unknown[]) => void lines.push(line),
    warn: (...line: unknown[]) => void lines.push(line),
  }

  test('copies the whole history when the newest move is missing', async () => {
    const { table, kept } = memoryTable()
    const moves = [moveOf(2), moveOf(1)]
    const copies = createMoveCopies({ history: async () => moves, table, log, spreadMs: 0 })
    onTestFinished(copies.close)

    copies.moved()
    await until(() => kept.length === 2)
    moves.unshift(moveOf(3))
    copies.moved()
    await until(() => kept.includes(moves[0] as Move))
  })

  test('reads one move only when another gateway was first, and none twice', async () => {
    const { table, asked } = memoryTable([moveOf(2)])
    const most: (number | undefined)[] = []
    const history = async (number?: number) => {
      most.push(number)
      return [moveOf(2)]
    }
    const copies = createMoveCopies({ history, table, log, spreadMs: 0 })

    copies.moved()
    await until(() => asked.has === 1)
    copies.moved()
    await copies.close()

    expect({ most, asked }).toEqual({ most: [1, 1], asked: { has: 1, add: 0 } })
  })

  test('copies before it ends, and complains once about a database that fails', async () => {
    const { table, kept } = memoryTable()
    let isDown = true
    const failing = {
      ...table,
      has: (move: Move) => (isDown ? Promise.reject(new Error('down')) : table.has(move)),
    }
    const copies = createMoveCopies({
      history: async () => [moveOf(1)],
      table: failing,
      log,
      spreadMs: 0,
    })
    lines.length = 0

    copies.moved()
    await until(() => lines.length === 1)
    copies.moved()
    isDown = false
    await copies.close()

    expect(kept).toEqual([moveOf(1)])
    expect(lines).toEqual([
      [{ reason: 'down' }, 'policy history not copied to the database'],
      [{}, 'policy history copied to the database again'],
    ])
  })
})

describe('the merged history', () => {
  test('has what either has, and what the database saw first', () => {
    const rewritten = moveOf(2, { author: 'eve' })

    const merged = mergeMoves([moveOf(3), rewritten], [moveOf(2), moveOf(1)], 10)

    expect(merged).toEqual({ moves: [moveOf(3), moveOf(2), moveOf(1)], differing: 1 })
    expect(mergeMoves([moveOf(3)], [moveOf(2)], 1).moves).toEqual([moveOf(3)])
  })

  test('does not show a move twice whose rewriter also gave it another id', () => {
    const rewritten = moveOf(2, { author: 'eve', id: 'another' })

    const merged = mergeMoves([moveOf(3), rewritten], [moveOf(2)], 10)

    expect(merged).toEqual({ moves: [moveOf(3), moveOf(2)], differing: 1 })
  })
})
