import { backendOf } from '../database/backend.ts'
import { type Database, inTransaction, withFaults } from '../database/database.ts'
import { appendInside } from './append-revocations.ts'
import { fromRow, PAGE, type RevocationStore } from './revocation-store.ts'

/**
 * The revocation list in a table, for gateways without Redis. A restored or truncated table starts a new
 * list, whose sequences begin again.
 */
export function createDatabaseRevocations({ db, shapes }: Database): RevocationStore {
  const { revocationList: listName } = backendOf(db).catalog

  return {
    name: 'database',
    read: (after) =>
      withFaults(async () => {
        await shapes()
        const sequence = after?.sequence ?? '0'
        const found = await db
          .selectFrom(db.selectNoFrom(listName.as('list')).as('one'))
          .leftJoin(
            db
              .selectFrom('postern_revocation')
              .selectAll()
              .where('sequence', '>', sequence)
              .orderBy('sequence')
              .limit(PAGE)
              .as('page'),
            (join) => join.onTrue(),
          )
          .selectAll()
          .execute()
        const list = found[0]?.list ?? ''
        if (after !== undefined && after.list !== list) return undefined
        const rows = found.flatMap(
          ({ name, user_id: userId, moment_ms, until_ms, sequence: at }) =>
            name === null || userId === null || at === null
              ? []
              : [{ name, userId, moment: Number(moment_ms), until: Number(until_ms), at }],
        )
        return {
          revocations: rows.flatMap(({ at: _, ...row }) => fromRow(row) ?? []),
          position: { list, sequence: rows.at(-1)?.at ?? sequence },
          more: rows.length === PAGE,
        }
      }),
    append: (revocations, made) =>
      inTransaction({ db, shapes }, (inside) => appendInside(inside, revocations, made)),
    end: () =>
      withFaults(async () => {
        await shapes()
        const { list, last } = await db
          .selectFrom('postern_revocation')
          .select(({ fn }) => [listName.as('list'), fn.max('sequence').as('last')])
          .executeTakeFirstOrThrow()
        return { list, sequence: last ?? '0' }
      }),
    watch() {},
    async check() {},
    async close() {},
  }
}
