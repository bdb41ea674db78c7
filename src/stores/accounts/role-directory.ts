import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { same } from '../database/dialect.ts'
import { live } from '../database/soft-delete.ts'
import { isStorable } from '../database/storable-text.ts'
import type { TableShapes } from '../database/table-shapes.ts'
import { utcText } from '../database/utc-text.ts'
import { isService, liveAccounts, status } from './account-queries.ts'

/** How many names of a role's accounts one answer carries. */
const mostNames = 100

/** A live role. The data scope is as stored: go-admin's number, or what else someone wrote. */
export interface RoleSummary {
  readonly roleId: string
  readonly roleKey: string
  readonly name: string
  readonly dataScope: string
  /** The live accounts of people that have it. */
  readonly users: { readonly enabled: number; readonly disabled: number }
  readonly services: number
}

interface RoleDetails extends RoleSummary {
  readonly createdAt: string | null
  readonly updatedAt: string | null
  /** The first of its accounts by ID; compare with the counts. */
  readonly accounts: readonly RoleAccount[]
}

interface RoleAccount {
  readonly username: string
  readonly kind: 'user' | 'service'
}

/** Which roles exist. Every error of the driver becomes a Fault. */
interface RoleDirectory {
  list(): Promise<readonly RoleSummary[]>
  /** Every live role with this key: old databases can hold a key twice. */
  show(roleKey: string): Promise<readonly RoleDetails[]>
}

/** Reads go-admin's `sys_role` for operators. */
export function createRoleDirectory({ db, shapes }: Database): RoleDirectory {
  async function read(shape: TableShapes, condition: RawBuilder<unknown>) {
    const enabled = sql`coalesce(u.status, '') = ${status.enabled}`
    const { rows } = await sql<Row>`
      select r.role_id::text as "roleId", coalesce(r.role_key, '') as "roleKey",
        coalesce(r.role_name, '') as "name", coalesce(r.data_scope, '') as "dataScope",
        ${utcText('r.created_at')} as "createdAt", ${utcText('r.updated_at')} as "updatedAt",
        coalesce(counted.enabled, 0)::int as "enabled",
        coalesce(counted.disabled, 0)::int as "disabled",
        coalesce(counted.services, 0)::int as "services"
      from sys_role r left join (
        select u.role_id,
          sum(case when not ${isService(shape)} and ${enabled} then 1 else 0 end) as enabled,
          sum(case when not ${isService(shape)} and not (${enabled}) then 1 else 0 end) as disabled,
          sum(case when ${isService(shape)} then 1 else 0 end) as services
        from sys_user u where ${live('u', shape.users)} group by u.role_id
      ) counted on counted.role_id = r.role_id
      where ${live('r', shape.roles)} and ${condition}
      order by r.role_id`.execute(db)
    return rows
  }

  async function accountsWith(shape: TableShapes, roleId: string): Promise<readonly RoleAccount[]> {
    const rows = await liveAccounts(db, shape)
      .select('u.username')
      .select(isService(shape).as('service'))
      .where('u.role_id', '=', roleId)
      .orderBy('u.user_id')
      .limit(mostNames)
      .execute()
    return rows.map(({ username, service }) => ({
      ...{ username: username ?? '', kind: service ? 'service' : 'user' },
    }))
  }

  return {
    list: () =>
      withFaults(async () => (await read(await shapes(), sql`true`)).map((row) => summary(row))),
    show: (roleKey) =>
      withFaults(async () => {
        if (!isStorable(roleKey)) return []
        const shape = await shapes()
        const rows = await read(shape, same('r.role_key', roleKey))
        return Promise.all(
          rows.map(async (row) => ({
            ...summary(row),
            createdAt: row.createdAt,
            updatedAt: row.updatedAt,
            accounts: await accountsWith(shape, row.roleId),
          })),
        )
      }),
  }
}

interface Row {
  readonly roleId: string
  readonly roleKey: string
  readonly name: string
  readonly dataScope: string
  readonly createdAt: string | null
  readonly updatedAt: string | null
  readonly enabled: number
  readonly disabled: number
  readonly services: number
}

function summary({ roleId, roleKey, name, dataScope, enabled, disabled, services }: Row) {
  return { roleId, roleKey, name, dataScope, users: { enabled, disabled }, services }
}
