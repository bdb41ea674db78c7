import { Invalid, type Problem } from '../../kernel/errors.ts'
import { backendOf, type FittingTypes } from './backend.ts'
import type { Db, TableShapes } from './database.ts'
import type { SoftDelete } from './dialect.ts'
import { type OptionalTable, optionalTableNames } from './tables.ts'

const times = { number: 'create_by update_by', time: 'created_at updated_at' }

/** Table, then kind, then the columns of that kind. */
const needed: Readonly<Record<string, Readonly<Partial<Record<keyof FittingTypes, string>>>>> = {
  sys_user: {
    number: `user_id role_id dept_id post_id ${times.number}`,
    text: 'username password nick_name phone avatar sex email remark status',
    time: times.time,
    mark: 'deleted_at',
  },
  sys_role: {
    number: `role_id role_sort ${times.number}`,
    text: 'role_name role_key status flag remark data_scope',
    flag: 'admin',
    time: times.time,
    mark: 'deleted_at',
  },
  sys_login_log: {
    number: times.number,
    text: 'username status ipaddr login_location browser os platform remark msg',
    time: `login_time ${times.time}`,
  },
  postern_login_attempt: { id: 'attempt_id', time: 'recorded_at' },
  postern_revocation: { text: 'name user_id', number: 'moment_ms until_ms sequence' },
}

/**
 * Reads the columns of the tables from the catalog, along the search path that our queries use.
 * Throws `Invalid` with every difference that would break a query.
 */
export async function readTableShapes(db: Db): Promise<TableShapes> {
  const { columnsOf, fittingTypes } = backendOf(db).catalog
  const rows = await columnsOf(db, Object.keys(needed))
  const types = new Map(rows.map(({ table, column, type }) => [`${table}.${column}`, type]))

  const problems = Object.entries(needed).flatMap(([table, columns]) =>
    rows.some((row) => row.table === table)
      ? Object.entries(columns).flatMap(([kind, names]) =>
          names
            .split(' ')
            .flatMap((name) =>
              difference(types, table, name, fittingTypes[kind as keyof FittingTypes]),
            ),
        )
      : [problem(`table ${table} is missing: run "postern db migrate" to create it`)],
  )
  if (problems.length > 0) throw new Invalid(problems)

  return {
    users: softDelete(types.get('sys_user.deleted_at')),
    roles: softDelete(types.get('sys_role.deleted_at')),
    optional: await existingTables(db),
  }
}

/** The optional tables that exist now. */
export async function existingTables(db: Db): Promise<ReadonlySet<OptionalTable>> {
  const names = await backendOf(db).catalog.readable(db, optionalTableNames)
  return new Set(names as readonly OptionalTable[])
}

function difference(
  types: ReadonlyMap<string, string>,
  table: string,
  column: string,
  fitting: readonly string[],
): readonly Problem[] {
  const type = types.get(`${table}.${column}`)
  if (type === undefined) {
    return [problem(`table ${table} has no column ${column} (expected ${fitting.join(', ')})`)]
  }
  if (fitting.includes(type)) return []
  return [problem(`column ${column} of table ${table} is ${type}, expected ${fitting.join(', ')}`)]
}

function problem(message: string): Problem {
  return { file: 'database', message }
}

function softDelete(type: string | undefined): SoftDelete {
  return type === 'bigint' ? 'zero-is-live' : 'null-is-live'
}
