import { type SqlBool, sql } from 'kysely'
import type { Identity } from '../../login/linked-account.ts'
import type { Caller } from '../../token/caller.ts'
import {
  accountOf,
  callerColumns,
  callerIn,
  hasSecondFactor,
  isService,
  liveAccounts,
  status,
} from '../accounts/account-queries.ts'
import { hasPassword } from '../accounts/unusable-password.ts'
import { type Db, type Inside, requireTables, type TableShapes } from '../database/database.ts'
import { now, nowMs } from '../database/dialect.ts'
import { insertRows } from '../database/insert-rows.ts'

/** A live account. The role key is empty when the role is missing. */
export interface FoundAccount {
  readonly caller: Caller
  readonly enabled: boolean
  readonly service: boolean
  /** Whether it has one-time codes. */
  readonly secondFactor: boolean
}

export function issuerOf({ issuer, provider }: Pick<Identity, 'issuer' | 'provider'>): string {
  return issuer ?? provider
}

function keyOf(identity: Identity) {
  return { issuer: issuerOf(identity), subject: identity.subject }
}

/** The live account that this identity is linked to. */
export async function findLinked(
  db: Db,
  shapes: TableShapes,
  identity: Identity,
): Promise<FoundAccount | undefined> {
  requireTables(shapes, 'postern_identity')
  const row = await described(liveAccounts(db, shapes), shapes)
    .where('u.user_id', '=', ({ selectFrom }) =>
      selectFrom('postern_identity as i')
        .select('i.user_id')
        .where(({ and }) => and(keyOf(identity))),
    )
    .executeTakeFirst()
  return row && toFound(row)
}

/** The live account that this name selects at login. */
export async function findNamed(db: Db, shapes: TableShapes, username: string) {
  const row = await described(accountOf(db, shapes, username), shapes).executeTakeFirst()
  return row && toFound(row)
}

/** Whether an account has a link to this issuer. */
export async function hasLink(db: Db, userId: string, issuer: string): Promise<boolean> {
  const own = db.selectFrom('postern_identity').where('user_id', '=', userId)
  const link = own.select('user_id').where('issuer', '=', issuer).limit(1)
  return (await link.executeTakeFirst()) !== undefined
}

/** Whether the account that this name selects has a password here and no link to this issuer. */
export async function isLocalAccount(
  db: Db,
  shapes: TableShapes,
  { username, issuer }: { readonly username: string; readonly issuer: string },
): Promise<boolean> {
  const account = await accountOf(db, shapes, username)
    .select(['u.user_id as userId', 'u.password'])
    .executeTakeFirst()
  if (account === undefined || !hasPassword(account.password)) return false
  return !shapes.optional.has('postern_identity') || !(await hasLink(db, account.userId, issuer))
}

interface NewLink {
  readonly userId: string
  readonly linkedBy: string
  /** Whether a login made it. */
  readonly seen: boolean
}

/** Links an identity. A link to a deleted account is replaced: its person begins anew. */
export async function insertLink(
  inside: Inside,
  identity: Identity,
  { userId, linkedBy, seen }: NewLink,
): Promise<void> {
  const { provider, subject } = identity
  const link = { issuer: issuerOf(identity), subject, provider, user_id: userId }
  await insertRows(inside, 'postern_identity', [{ ...link, linked_by: linkedBy }], {
    computed: { seen_ms: seen ? nowMs : sql.lit(null), linked_at: now },
    ifThere: ['provider', 'user_id', 'linked_by', 'seen_ms', 'linked_at'],
  })
}

/** Dates the last login, to the hour: most logins write nothing. */
export async function touchLink(db: Db, identity: Identity): Promise<void> {
  await db
    .updateTable('postern_identity')
    .set({ seen_ms: nowMs, provider: identity.provider })
    .where(({ and }) => and(keyOf(identity)))
    .where(({ eb, or }) =>
      or([eb('seen_ms', 'is', null), eb('seen_ms', '<', eb(nowMs, '-', '3600000'))]),
    )
    .execute()
}

function described(accounts: ReturnType<typeof liveAccounts>, shapes: TableShapes) {
  return accounts
    .select([...callerColumns, 'u.status', isService(shapes).as('service')])
    .select(hasSecondFactor(shapes).as('secondFactor'))
}

type AccountRow = Parameters<typeof callerIn>[0] &
  Readonly<{ status: string | null } & Record<'service' | 'secondFactor', SqlBool>>

function toFound(row: AccountRow): FoundAccount {
  return {
    caller: callerIn(row),
    enabled: row.status === status.enabled,
    service: Boolean(row.service),
    secondFactor: Boolean(row.secondFactor),
  }
}
