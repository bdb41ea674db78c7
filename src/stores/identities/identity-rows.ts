import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Identity } from '../../login/linked-account.ts'
import type { Caller } from '../../token/caller.ts'
import {
  accountOf,
  hasSecondFactor,
  isService,
  liveAccounts,
  status,
} from '../accounts/account-queries.ts'
import type { Inside } from '../accounts/accounts-lock.ts'
import { hasPassword } from '../accounts/unusable-password.ts'
import { now, nowMs, orReplace } from '../database/dialect.ts'
import type { Schema } from '../database/schema.ts'
import { requireTable, type TableShapes } from '../database/table-shapes.ts'

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

/** The live account that this identity is linked to. */
export async function findLinked(
  db: Kysely<Schema>,
  shapes: TableShapes,
  identity: Identity,
): Promise<FoundAccount | undefined> {
  requireTable(shapes, 'postern_identity')
  const row = await described(liveAccounts(db, shapes), shapes)
    .where(
      sql<SqlBool>`u.user_id = (select i.user_id from postern_identity as i
        where i.issuer = ${issuerOf(identity)} and i.subject = ${identity.subject})`,
    )
    .executeTakeFirst()
  return row && toFound(row)
}

/** The live account that this name selects at login. */
export async function findNamed(db: Kysely<Schema>, shapes: TableShapes, username: string) {
  const row = await described(accountOf(db, shapes, username), shapes).executeTakeFirst()
  return row && toFound(row)
}

/** Whether an account has a link to this issuer. */
export async function hasLink(
  db: Kysely<Schema>,
  userId: string,
  issuer: string,
): Promise<boolean> {
  const { rows } = await sql`select 1 from postern_identity
    where user_id = ${userId}::bigint and issuer = ${issuer} limit 1`.execute(db)
  return rows.length > 0
}

/** Whether the account that this name selects has a password here and no link to this issuer. */
export async function isLocalAccount(
  db: Kysely<Schema>,
  shapes: TableShapes,
  { username, issuer }: { readonly username: string; readonly issuer: string },
): Promise<boolean> {
  const account = await accountOf(db, shapes, username)
    .select(sql<string>`u.user_id::text`.as('userId'))
    .select('u.password')
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
  await sql`
    insert into postern_identity (issuer, subject, provider, user_id, linked_by, seen_ms)
    values (${issuerOf(identity)}, ${subject}, ${provider}, ${userId}::bigint, ${linkedBy}, ${seen ? nowMs : null})
    ${orReplace(['issuer', 'subject'], ['provider', 'user_id', 'linked_by', 'seen_ms'], sql`, linked_at = ${now}`)}`.execute(
    inside,
  )
}

/** Dates the last login, to the hour: most logins write nothing. */
export async function touchLink(db: Kysely<Schema>, identity: Identity): Promise<void> {
  await sql`update postern_identity set seen_ms = ${nowMs}, provider = ${identity.provider}
    where issuer = ${issuerOf(identity)} and subject = ${identity.subject}
      and (seen_ms is null or seen_ms < ${nowMs} - 3600000)`.execute(db)
}

function described(accounts: ReturnType<typeof liveAccounts>, shapes: TableShapes) {
  return accounts
    .select(['u.username', 'u.status', 'r.role_key', 'r.role_name', 'r.data_scope'])
    .select(sql<string>`u.user_id::text`.as('user_id'))
    .select(sql<string | null>`r.role_id::text`.as('role_id'))
    .select(isService(shapes).as('service'))
    .select(hasSecondFactor(shapes).as('secondFactor'))
}

interface Row {
  readonly user_id: string
  readonly username: string | null
  readonly status: string | null
  readonly role_id: string | null
  readonly role_key: string | null
  readonly role_name: string | null
  readonly data_scope: string | null
  readonly service: SqlBool
  readonly secondFactor: SqlBool
}

function toFound(row: Row): FoundAccount {
  return {
    caller: {
      userId: row.user_id,
      roleId: row.role_id ?? '',
      roleKey: row.role_key ?? '',
      roleName: row.role_name ?? '',
      username: row.username ?? '',
      dataScope: row.data_scope ?? '',
    },
    enabled: row.status === status.enabled,
    service: Boolean(row.service),
    secondFactor: Boolean(row.secondFactor),
  }
}
