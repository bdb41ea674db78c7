import { sql } from 'kysely'
import type {
  Enrollment,
  RecoveryClaim,
  SecondFactorStore,
  StepClaim,
} from '../../login/second-factor/second-factor.ts'
import { isId } from '../accounts/accounts.ts'
import { createBounded } from '../accounts/bounded.ts'
import { appendAudit } from '../audit/audit.ts'
import type { Database } from '../database/database.ts'
import { nowMs } from '../database/dialect.ts'
import { inTransaction } from '../database/repeated.ts'
import { tableExists } from '../database/table-shapes.ts'

/** What logins ask about one-time codes. Nothing takes longer than `timeoutMs`. */
export function createSecondFactorStore(
  { db, shapes }: Database,
  timeoutMs = 10_000,
): SecondFactorStore {
  const bounded = createBounded(timeoutMs)

  /**
   * Only a table that does not exist means that no account has one-time codes. One that exists and
   * cannot be read is a fault: a missing grant must not switch the second factor off.
   */
  async function hasTable(): Promise<boolean> {
    if ((await shapes()).optional.has('postern_totp')) return true
    return tableExists(db, 'postern_totp')
  }

  async function find(userId: string): Promise<Enrollment | undefined> {
    if (!(await hasTable())) return undefined
    const { rows } = await sql<Enrollment>`
      select key_id as "keyId", sealed, failures from postern_totp
      where user_id = ${userId}::bigint`.execute(db)
    return rows[0]
  }

  async function claimStep({ userId, step, checked, renewed }: StepClaim): Promise<boolean> {
    const { numAffectedRows } = await sql`
      update postern_totp set last_step = ${step}::bigint, failures = 0,
        key_id = ${renewed.keyId}, sealed = ${renewed.sealed}
      where user_id = ${userId}::bigint and last_step < ${step}::bigint
        and sealed = ${checked.sealed}`.execute(db)
    return numAffectedRows === 1n
  }

  async function claimRecoveryCode(claim: RecoveryClaim): Promise<number | undefined> {
    const { userId, checked, renewed, digest, username, origin } = claim
    const shape = await shapes()
    return inTransaction(db, async (inside) => {
      // In the order in which operators change both tables, so that neither waits for the other.
      const { rows: held } = await sql`select 1 from postern_totp
        where user_id = ${userId}::bigint and sealed = ${checked.sealed} for update`.execute(inside)
      if (held.length === 0) return undefined
      const { numAffectedRows: claimed } = await sql`
        update postern_recovery_code
        set used_ms = ${nowMs}
        where user_id = ${userId}::bigint and digest = ${digest} and used_ms is null`.execute(
        inside,
      )
      if (claimed !== 1n) return undefined
      await sql`update postern_totp
        set failures = 0, key_id = ${renewed.keyId}, sealed = ${renewed.sealed}
        where user_id = ${userId}::bigint`.execute(inside)
      const { rows } = await sql<{ left: number }>`
        select count(*)::int as "left" from postern_recovery_code
        where user_id = ${userId}::bigint and used_ms is null`.execute(inside)
      const left = rows[0]?.left ?? 0
      const actor = { kind: 'user', name: username, origin } as const
      const [before, after] = [{ recoveryCodes: left + 1 }, { recoveryCodes: left }]
      const entry = { actor, action: 'user.totp', subject: username, before, after } as const
      await appendAudit(inside, shape, [entry])
      return left
    })
  }

  async function countFailure(userId: string): Promise<void> {
    await sql`update postern_totp set failures = failures + 1
      where user_id = ${userId}::bigint`.execute(db)
  }

  return {
    find: async (userId) => (isId(userId) ? bounded(() => find(userId)) : undefined),
    claimStep: (claim) => bounded(() => claimStep(claim)),
    claimRecoveryCode: (claim) => bounded(() => claimRecoveryCode(claim)),
    countFailure: (userId) => bounded(() => countFailure(userId)),
  }
}
