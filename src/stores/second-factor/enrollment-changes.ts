import { sql } from 'kysely'
import type { SealedSecret } from '../../login/second-factor/sealed-secret.ts'
import { accountOf, isService } from '../accounts/account-queries.ts'
import { type Inside, underAccountsLock } from '../accounts/accounts-lock.ts'
import { type Actor, appendAudit } from '../audit/audit.ts'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { tableOf } from '../database/dialect.ts'
import { isStorable } from '../database/storable-text.ts'
import { requireTable, type TableShapes } from '../database/table-shapes.ts'
import { forgetSecondFactor } from './forget.ts'

/** The account that login would choose for this name, if it is still the one that was meant. */
interface Whose {
  readonly username: string
  readonly userId: string
}

interface NewEnrollment extends Whose {
  readonly secret: SealedSecret
  /** The time step of the code that confirmed it, which then works no more; 0 without one. */
  readonly lastStep: number
  readonly recoveryDigests: readonly string[]
}

interface NewRecoveryCodes extends Whose {
  /** The secret that the digests are made with. */
  readonly secret: SealedSecret
  readonly recoveryDigests: readonly string[]
}

/** Why nothing changed. */
export type Unchanged = 'no-such-user' | 'service-account' | 'not-enrolled'

/** How operators change one-time codes. A change and its audit row are one transaction. */
interface EnrollmentChanges {
  /** Replaces what the account had. */
  enroll(enrollment: NewEnrollment): Promise<'done' | Unchanged>
  remove(whose: Whose): Promise<'done' | Unchanged>
  replaceRecoveryCodes(codes: NewRecoveryCodes): Promise<'done' | Unchanged>
}

export function createEnrollmentChanges(database: Database, actor: Actor): EnrollmentChanges {
  /** `work` returns what became of it, for the audit log, where a secret never is. */
  async function change(
    whose: Whose,
    work: (inside: Inside, was: Summary | undefined) => Promise<Summary | Unchanged>,
  ): Promise<'done' | Unchanged> {
    if (!isStorable(whose.username)) return 'no-such-user'
    return underAccountsLock(database, async (inside, shapes) => {
      requireTotpTables(shapes)
      const problem = await missing(inside, shapes, whose)
      if (problem !== undefined) return problem
      const before = await summaryOf(inside, whose.userId)
      const after = await work(inside, before)
      if (typeof after === 'string') return after
      const entry = { actor, action: 'user.totp', subject: whose.username } as const
      await appendAudit(inside, shapes, [{ ...entry, before: before ?? off, after }])
      return 'done'
    })
  }

  return {
    enroll: ({ secret, lastStep, recoveryDigests, ...whose }) =>
      change(whose, async (inside) => {
        const { userId } = whose
        const { keyId, sealed } = secret
        await forgetSecondFactor(inside, [userId])
        await sql`insert into postern_totp (user_id, key_id, sealed, last_step)
          values (${userId}::bigint, ${keyId}, ${sealed}, ${lastStep}::bigint)`.execute(inside)
        await insertCodes(inside, userId, recoveryDigests)
        return { enrolled: true, recoveryCodes: recoveryDigests.length }
      }),
    remove: (whose) =>
      change(whose, async (inside, before) => {
        if (before === undefined) return 'not-enrolled'
        await forgetSecondFactor(inside, [whose.userId])
        return off
      }),
    replaceRecoveryCodes: ({ secret, recoveryDigests, ...whose }) =>
      change(whose, async (inside) => {
        const { userId } = whose
        const { rows } = await sql`select 1 from postern_totp
          where user_id = ${userId}::bigint and sealed = ${secret.sealed} for update`.execute(
          inside,
        )
        if (rows.length === 0) return 'not-enrolled'
        await sql`delete from postern_recovery_code where user_id = ${userId}::bigint`.execute(
          inside,
        )
        await insertCodes(inside, userId, recoveryDigests)
        return { enrolled: true, recoveryCodes: recoveryDigests.length }
      }),
  }
}

/** Replaces the encryption of a secret, not the secret. Whether it was still as `checked`. */
export function reencryptSecret(
  { db }: Database,
  userId: string,
  checked: SealedSecret,
  { keyId, sealed }: SealedSecret,
): Promise<boolean> {
  return withFaults(async () => {
    const { numAffectedRows } =
      await sql`update postern_totp set key_id = ${keyId}, sealed = ${sealed}
      where user_id = ${userId}::bigint and sealed = ${checked.sealed}`.execute(db)
    return numAffectedRows === 1n
  })
}

/** What the audit log says of an account. */
interface Summary {
  readonly [field: string]: unknown
  readonly enrolled: boolean
  readonly recoveryCodes: number
}

const off: Summary = { enrolled: false, recoveryCodes: 0 }

/** Throws a Fault without the tables: gateways start without them. */
function requireTotpTables(shapes: Pick<TableShapes, 'optional'>): void {
  requireTable(shapes, 'postern_totp')
  requireTable(shapes, 'postern_recovery_code')
}

async function missing(
  inside: Inside,
  shapes: TableShapes,
  { username, userId }: Whose,
): Promise<Unchanged | undefined> {
  const row = await accountOf(inside, shapes, username)
    .select(sql<string>`u.user_id::text`.as('userId'))
    .select(isService(shapes).as('service'))
    .executeTakeFirst()
  if (row?.userId !== userId) return 'no-such-user'
  return row.service ? 'service-account' : undefined
}

async function summaryOf(inside: Inside, userId: string): Promise<Summary | undefined> {
  const { rows } = await sql<{ left: number }>`
    select (select count(*)::int from postern_recovery_code c
      where c.user_id = t.user_id and used_ms is null) as "left"
    from postern_totp t where user_id = ${userId}::bigint for update of t`.execute(inside)
  return rows[0] && { enrolled: true, recoveryCodes: rows[0].left }
}

async function insertCodes(
  inside: Inside,
  userId: string,
  digests: readonly string[],
): Promise<void> {
  const rows = digests.map((digest) => ({ digest }))
  await sql`insert into postern_recovery_code (user_id, digest)
    select ${userId}::bigint, digest
    from ${tableOf('digests', { digest: 'text' }, rows)}`.execute(inside)
}
