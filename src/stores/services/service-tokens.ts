import { type RawBuilder, sql } from 'kysely'
import { type Actor, appendAudit } from '../audit/audit.ts'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { nowMs, same } from '../database/dialect.ts'
import { inTransaction } from '../database/repeated.ts'
import { isStorable } from '../database/storable-text.ts'
import type { TableShapes } from '../database/table-shapes.ts'
import { requireServiceTables } from './service-tables.ts'

/** A token that a command issued. All times are milliseconds since the epoch. */
interface ServiceToken {
  readonly id: string
  readonly userId: string
  readonly roleKey: string
  readonly note: string
  /** Of the key that signed it; `undefined`: the shared secret. */
  readonly kid: string | undefined
  readonly issuedBy: string
  readonly issuedAt: number
  readonly expiresAt: number
}

/** The same with what happened since. */
export interface ListedToken extends ServiceToken {
  /** The name of its account, also after that was removed. */
  readonly service: string
  /** To the minute; `undefined` before the first request. */
  readonly seenAt: number | undefined
  /** When it was revoked by its id or with its account. A revocation of the user is in the list only. */
  readonly revokedAt: number | undefined
}

/** The tokens that commands issued, without their text. Every error of the driver becomes a Fault. */
interface ServiceTokens {
  /** Records a new token, before anyone sees it. */
  add(token: ServiceToken, service: string): Promise<void>
  /** The tokens of all services or of one, the newest first. */
  list(service?: string): Promise<readonly ListedToken[]>
  find(id: string): Promise<ListedToken | undefined>
  /** Records that the revocation list has it. */
  revoked(token: ListedToken): Promise<void>
}

export function createServiceTokens({ db, shapes }: Database, actor: Actor): ServiceTokens {
  async function tables(): Promise<TableShapes> {
    const shape = await shapes()
    requireServiceTables(shape)
    return shape
  }

  async function add(token: ServiceToken, service: string): Promise<void> {
    const shape = await tables()
    const { id, userId, roleKey, note, kid, issuedBy, issuedAt, expiresAt } = token
    await inTransaction(db, async (inside) => {
      await sql`
        insert into postern_service_token
          (token_id, user_id, role_key, note, kid, issued_by, issued_ms, expires_ms)
        values (${id}, ${userId}::bigint, ${roleKey}, ${note}, ${kid ?? ''}, ${issuedBy},
          ${issuedAt}::bigint, ${expiresAt}::bigint)`.execute(inside)
      const expires = new Date(expiresAt).toISOString()
      const after = {
        service,
        role: roleKey,
        ...(note && { note }),
        expires,
        key: kid ?? 'jwt.secret',
      }
      const entry = { actor, action: 'token.issue', subject: `token ${id}`, after } as const
      await appendAudit(inside, shape, [entry])
    })
  }

  async function select(condition: RawBuilder<unknown>): Promise<readonly ListedToken[]> {
    await tables()
    const { rows } = await sql<Row>`
      select t.token_id, t.user_id::text as user_id, u.username, t.role_key, t.note, t.kid, t.issued_by,
             t.issued_ms::text as issued_ms, t.expires_ms::text as expires_ms,
             t.seen_ms::text as seen_ms, t.revoked_ms::text as revoked_ms
      from postern_service_token t left join sys_user u on u.user_id = t.user_id
      where ${condition}
      order by t.issued_ms desc, t.token_id desc`.execute(db)
    return rows.map(toToken)
  }

  async function revoked({ id, service }: ListedToken): Promise<void> {
    const shape = await tables()
    await inTransaction(db, async (inside) => {
      await sql`update postern_service_token
        set revoked_ms = ${nowMs}
        where token_id = ${id} and revoked_ms is null`.execute(inside)
      const after = { service }
      const entry = { actor, action: 'token.revoke', subject: `token ${id}`, after } as const
      await appendAudit(inside, shape, [entry])
    })
  }

  return {
    add: (token, service) => withFaults(() => add(token, service)),
    list: async (service) => {
      if (service === undefined) return withFaults(() => select(sql`true`))
      return isStorable(service) ? withFaults(() => select(same('u.username', service))) : []
    },
    find: async (id) =>
      isStorable(id) ? (await withFaults(() => select(sql`t.token_id = ${id}`)))[0] : undefined,
    revoked: (token) => withFaults(() => revoked(token)),
  }
}

interface Row {
  readonly token_id: string
  readonly user_id: string
  readonly username: string | null
  readonly role_key: string
  readonly note: string
  readonly kid: string
  readonly issued_by: string
  readonly issued_ms: string
  readonly expires_ms: string
  readonly seen_ms: string | null
  readonly revoked_ms: string | null
}

function toToken(row: Row): ListedToken {
  const time = (ms: string | null) => (ms === null ? undefined : Number(ms))
  return {
    id: row.token_id,
    userId: row.user_id,
    service: row.username ?? '',
    roleKey: row.role_key,
    note: row.note,
    kid: row.kid === '' ? undefined : row.kid,
    issuedBy: row.issued_by,
    issuedAt: Number(row.issued_ms),
    expiresAt: Number(row.expires_ms),
    seenAt: time(row.seen_ms),
    revokedAt: time(row.revoked_ms),
  }
}
