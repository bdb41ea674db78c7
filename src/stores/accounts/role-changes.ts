import type { UpdateObject } from 'kysely'
import type { DataScope } from '../../kernel/data-scope.ts'
import { type Actor, appendAudit } from '../audit/audit.ts'
import type { AuditAction } from '../audit/audit-action.ts'
import type { Database, Inside, TableShapes } from '../database/database.ts'
import { deletedMark, isStorable, live, now, same } from '../database/dialect.ts'
import type { Schema } from '../database/tables.ts'
import { insertRole, liveRoleId } from './account-insert.ts'
import { ifTaken, liveAccounts, underAccountsLock } from './account-queries.ts'
import { adminKey } from './last-admin.ts'

/** What an operator can set. */
export interface RoleValues {
  readonly name: string
  readonly dataScope: DataScope
}

/** The users whose tokens carry what was changed, deleted accounts included. */
interface ChangedRole {
  readonly userIds: readonly string[]
}

/**
 * How operators change roles. A change and its audit row are one transaction. Old databases can
 * hold a key twice: a change is for every live role of the key. Every error of the driver becomes a
 * Fault. Changes go-admin's `sys_role` in the name of `actor`.
 */
export function createRoleChanges(database: Database, actor: Actor) {
  async function edit<Refusal extends string>(
    roleKey: string,
    prepare: (
      inside: Inside,
      shapes: TableShapes,
      ids: readonly string[],
    ) => Promise<Edit | Refusal>,
  ): Promise<ChangedRole | 'no-such-role' | Refusal> {
    return underAccountsLock(database, async (inside, shapes) => {
      const roles = await rolesOf(inside, shapes, roleKey)
      if (roles.length === 0) return 'no-such-role'
      const roleIds = roles.map(({ roleId }) => roleId)
      const wanted = await prepare(inside, shapes, roleIds)
      if (typeof wanted === 'string') return wanted
      const { action, set, before, after } = wanted
      await inside
        .updateTable('sys_role')
        .set({ ...set, updated_at: now })
        .where('role_id', 'in', roleIds)
        .execute()
      const row = { actor, action, subject: roleKey, after }
      await appendAudit(
        inside,
        shapes,
        roles.map((role) => ({ ...row, before: before(role) })),
      )
      return { userIds: await holdersOf(inside, roleIds) }
    })
  }

  return {
    add: (roleKey: string, { name, dataScope }: RoleValues) =>
      underAccountsLock(database, async (inside, shapes) => {
        if ((await liveRoleId(inside, shapes.roles, roleKey)) !== undefined) return 'key-taken'
        const admin = roleKey === adminKey
        await insertRole(inside, shapes, { roleKey, roleName: name, dataScope, admin })
        const row = { actor, action: 'role.add', subject: roleKey } as const
        await appendAudit(inside, shapes, [{ ...row, after: { name, dataScope } }])
        return 'added'
      }).catch(ifTaken('key-taken')),
    set: (roleKey: string, after: Partial<RoleValues>) =>
      edit<never>(roleKey, async () => ({
        action: 'role.set',
        set: {
          ...(after.name !== undefined && { role_name: after.name }),
          ...(after.dataScope !== undefined && { data_scope: after.dataScope }),
        },
        before: ({ name, dataScope }) => ({
          ...(after.name !== undefined && { name }),
          ...(after.dataScope !== undefined && { dataScope }),
        }),
        after: { ...after },
      })),
    /** Deletes a role that no live account has, as go-admin does: the row stays and is marked. */
    remove: (roleKey: string) =>
      edit<'in-use'>(roleKey, async (inside, shapes, roleIds) => {
        if (await areUsed(inside, shapes, roleIds)) return 'in-use'
        return {
          action: 'role.remove',
          set: { deleted_at: deletedMark(shapes.roles) },
          before: ({ name, dataScope }) => ({ name, dataScope }),
        }
      }),
  }
}

interface FoundRole {
  readonly roleId: string
  readonly name: string
  readonly dataScope: string
}

/** What to change, and what the audit row says about it. */
interface Edit {
  readonly action: AuditAction
  readonly set: UpdateObject<Schema, 'sys_role'>
  readonly before: (role: FoundRole) => Readonly<Record<string, unknown>>
  readonly after?: Readonly<Record<string, unknown>>
}

async function rolesOf(
  inside: Inside,
  { roles }: TableShapes,
  roleKey: string,
): Promise<readonly FoundRole[]> {
  // No role has a key that no column can hold; the server would report an error.
  if (!isStorable(roleKey)) return []
  const rows = await inside
    .selectFrom('sys_role as r')
    .select(['r.role_id as roleId', 'r.role_name', 'r.data_scope'])
    .where(same('r.role_key', roleKey))
    .where(live('r', roles))
    .orderBy('r.role_id')
    .forUpdate()
    .execute()
  return rows.map(({ roleId, role_name: name, data_scope: dataScope }) => ({
    ...{ roleId, name: name ?? '', dataScope: dataScope ?? '' },
  }))
}

/** Disabled accounts and service accounts count: each may be used again. */
async function areUsed(
  inside: Inside,
  shapes: TableShapes,
  roleIds: readonly string[],
): Promise<boolean> {
  const user = await liveAccounts(inside, shapes)
    .select('u.user_id')
    .where('u.role_id', 'in', roleIds)
    .limit(1)
    .executeTakeFirst()
  return user !== undefined
}

/** Deleted accounts too: go-admin revokes no token when it deletes one. */
async function holdersOf(inside: Inside, roleIds: readonly string[]): Promise<readonly string[]> {
  const rows = await inside
    .selectFrom('sys_user')
    .select('user_id as id')
    .where('role_id', 'in', roleIds)
    .orderBy('user_id')
    .execute()
  return rows.map(({ id }) => id)
}
