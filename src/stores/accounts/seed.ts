import { type Actor, type AuditEntry, appendAudit, gatewayActor } from '../audit/audit.ts'
import {
  type Database,
  type Db,
  type Inside,
  type TableShapes,
  withFaults,
} from '../database/database.ts'
import { insertAccount, insertRole } from './account-insert.ts'
import { underAccountsLock } from './account-queries.ts'
import { randomPassword } from './random-password.ts'

/** A new account. The database has only the hash of its password. */
export interface SeededAccount {
  readonly username: string
  readonly roleKey: string
  readonly password: string
}

/** `1` is all data, `5` one's own: the operator decides who gets more. */
const roles = [
  { roleKey: 'admin', roleName: 'Administrator', dataScope: '1', admin: true },
  { roleKey: 'editor', roleName: 'Editor', dataScope: '5', admin: false },
  { roleKey: 'viewer', roleName: 'Viewer', dataScope: '5', admin: false },
] as const

const users = [
  { username: 'admin', roleKey: 'admin' },
  { username: 'editor', roleKey: 'editor' },
] as const

interface SeedOptions {
  readonly makePassword?: () => string
  /**
   * Keeps the passwords before the accounts exist, so that none is lost: if this throws, there are no
   * accounts. It may run several times; the last time counts.
   */
  readonly keep?: ((accounts: readonly SeededAccount[]) => Promise<void>) | undefined
}

/**
 * Creates the initial roles and accounts in a database that has never had an account, deleted ones
 * included, and returns the passwords, once. In any other database it does nothing.
 */
export async function seedAccounts(
  database: Database,
  hashPassword: (password: string) => Promise<string>,
  { makePassword = randomPassword, keep }: SeedOptions = {},
): Promise<readonly SeededAccount[]> {
  await withFaults(database.shapes)
  if (await withFaults(() => hasUsers(database.db))) return []

  // Hashed before the transaction, so that other queries do not wait for it.
  const accounts: (SeededAccount & { passwordHash: string })[] = []
  for (const user of users) {
    const password = makePassword()
    accounts.push({ ...user, password, passwordHash: await hashPassword(password) })
  }

  return underAccountsLock(database, async (inside, shape) => {
    if (await hasUsers(inside)) return []
    const actor = gatewayActor()
    await insertRoles(inside, shape, actor)
    for (const account of accounts) {
      const added = await insertAccount(inside, shape, account)
      if (typeof added === 'string') continue
      const { username: subject, roleKey: role } = account
      const after = { ...added, role }
      await appendWherePossible(inside, shape, { actor, action: 'user.add', subject, after })
    }
    const seeded = accounts.map(({ passwordHash: _, ...account }) => account)
    await keep?.(seeded)
    return seeded
  })
}

/**
 * Creates the first roles in a database that has never had one, and returns their keys: the first
 * account needs a role.
 */
export async function seedRoles(database: Database, actor: Actor): Promise<readonly string[]> {
  await withFaults(database.shapes)
  if (await withFaults(() => hasRoles(database.db))) return []
  return underAccountsLock(database, async (inside, shape) => {
    if (await hasRoles(inside)) return []
    await insertRoles(inside, shape, actor)
    return roles.map(({ roleKey }) => roleKey)
  })
}

async function insertRoles(inside: Inside, shape: TableShapes, actor: Actor): Promise<void> {
  for (const role of roles) {
    if (!(await insertRole(inside, shape, role))) continue
    const { roleKey: subject, roleName: name, dataScope } = role
    const after = { name, dataScope }
    await appendWherePossible(inside, shape, { actor, action: 'role.add', subject, after })
  }
}

/** A gateway starts, and a database gets its first account, also without the audit log. */
async function appendWherePossible(
  inside: Inside,
  shape: TableShapes,
  entry: AuditEntry,
): Promise<void> {
  if (shape.optional.has('postern_audit')) await appendAudit(inside, shape, [entry])
}

export async function hasRoles(db: Db): Promise<boolean> {
  return (await db.selectFrom('sys_role').select('role_id').limit(1).execute()).length > 0
}

async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('sys_user').select('user_id').limit(1).execute()).length > 0
}
