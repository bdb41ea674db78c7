import type {
  Enrollment,
  RecoveryClaim,
  SecondFactorStore,
  StepClaim,
} from '../../login/second-factor/second-factor.ts'
import { isId } from '../accounts/accounts.ts'
import { createBounded } from '../accounts/bounded.ts'
import { appendAudit } from '../audit/audit.ts'
import { type Database, inTransaction, tableExists } from '../database/database.ts'
import { nowMs } from '../database/dialect.ts'
import { codesLeft } from './codes-left.ts'

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
    const own = db.selectFrom('postern_totp').where('user_id', '=', userId)
    return own.select(['key_id as keyId', 'sealed', 'failures']).executeTakeFirst()
  }

  async function claimStep({ userId, step, checked, renewed }: StepClaim): Promise<boolean> {
    const secret = { last_step: step, failures: 0, key_id: renewed.keyId, sealed: renewed.sealed }
    const own = db.updateTable('postern_totp').set(secret).where('user_id', '=', userId)
    const same = own.where('last_step', '<', String(step)).where('sealed', '=', checked.sealed)
    return (await same.executeTakeFirst()).numUpdatedRows === 1n
  }

  async function claimRecoveryCode(claim: RecoveryClaim): Promise<number | undefined> {
    const { userId, checked, renewed, digest, username, origin } = claim
    return inTransaction({ db, shapes }, async (inside, shape) => {
      // In the order in which operators change both tables, so that neither waits for the other.
      const own = inside.selectFrom('postern_totp').where('user_id', '=', userId)
      const same = own.select('user_id').where('sealed', '=', checked.sealed).forUpdate()
      if ((await same.executeTakeFirst()) === undefined) return undefined
      const use = inside.updateTable('postern_recovery_code').set({ used_ms: nowMs })
      const unused = use.where('user_id', '=', userId).where('used_ms', 'is', null)
      const { numUpdatedRows: claimed } = await unused
        .where('digest', '=', digest)
        .executeTakeFirst()
      if (claimed !== 1n) return undefined
      const secret = { failures: 0, key_id: renewed.keyId, sealed: renewed.sealed }
      await inside.updateTable('postern_totp').set(secret).where('user_id', '=', userId).execute()
      const { many } = await codesLeft(inside, userId).executeTakeFirstOrThrow()
      const left = Number(many)
      const actor = { kind: 'user', name: username, origin } as const
      const [before, after] = [{ recoveryCodes: left + 1 }, { recoveryCodes: left }]
      const entry = { actor, action: 'user.totp', subject: username, before, after } as const
      await appendAudit(inside, shape, [entry])
      return left
    })
  }

  async function countFailure(userId: string): Promise<void> {
    const own = db.updateTable('postern_totp').where('user_id', '=', userId)
    await own.set(({ eb }) => ({ failures: eb('failures', '+', 1) })).execute()
  }

  return {
    find: async (userId) => (isId(userId) ? bounded(() => find(userId)) : undefined),
    claimStep: (claim) => bounded(() => claimStep(claim)),
    claimRecoveryCode: (claim) => bounded(() => claimRecoveryCode(claim)),
    countFailure: (userId) => bounded(() => countFailure(userId)),
  }
}
