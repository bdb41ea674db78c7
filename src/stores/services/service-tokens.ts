import type { Selectable } from 'kysely'
import { type Actor, appendAudit } from '../audit/audit.ts'
import { type Database, inTransaction, requireTables, withFaults } from '../database/database.ts'
import { isStorable, nowMs, same } from '../database/dialect.ts'
import { markSeen } from '../database/mark-seen.ts'
import type { Schema } from '../database/tables.ts'

const ofServices = ['postern_service_account', 'postern_service_token'] as const

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

/** A service token with what happened since it was issued. */
export interface ListedToken extends ServiceToken {
  /** The name of its account, also after that was removed. */
  readonly service: string
  /** To the minute; `undefined` before the first request. */
  readonly seenAt: number | undefined
  /** When it was revoked by its id or with its account. A revocation of the user is in the list only. */
  readonly revokedAt: number | undefined
}

/**
 * The tokens that commands issued, without their text. Every error of the driver becomes a Fault.
 */
export function createServiceTokens(database: Database, actor: Actor) {
  const { db, shapes } = database
  async function add(token: ServiceToken, service: string): Promise<void> {
    const { id, userId, roleKey, note, kid, issuedBy, issuedAt, expiresAt } = token
    await inTransaction(database, async (inside, shape) => {
      requireTables(shape, ...ofServices)
      await inside
        .insertInto('postern_service_token')
        .values({
          ...{ token_id: id, user_id: userId, role_key: roleKey, note, kid: kid ?? '' },
          ...{ issued_by: issuedBy, issued_ms: issuedAt, expires_ms: expiresAt },
        })
        .execute()
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

  function everyToken() {
    return db
      .selectFrom('postern_service_token as t')
      .leftJoin('sys_user as u', 'u.user_id', 't.user_id')
      .selectAll('t')
      .select('u.username')
      .orderBy('t.issued_ms', 'desc')
      .orderBy('t.token_id', 'desc')
  }

  async function list(service: string | undefined): Promise<readonly ListedToken[]> {
    requireTables(await shapes(), ...ofServices)
    const all = everyToken()
    const rows = await (service === undefined
      ? all
      : all.where(same('u.username', service))
    ).execute()
    return rows.map(toToken)
  }

  async function find(id: string): Promise<ListedToken | undefined> {
    requireTables(await shapes(), ...ofServices)
    const row = await everyToken().where('t.token_id', '=', id).executeTakeFirst()
    return row && toToken(row)
  }

  async function revoked({ id, service }: ListedToken): Promise<void> {
    await inTransaction(database, async (inside, shape) => {
      requireTables(shape, ...ofServices)
      const revoke = inside.updateTable('postern_service_token').set({ revoked_ms: nowMs })
      await revoke.where('token_id', '=', id).where('revoked_ms', 'is', null).execute()
      const after = { service }
      const entry = { actor, action: 'token.revoke', subject: `token ${id}`, after } as const
      await appendAudit(inside, shape, [entry])
    })
  }

  return {
    /** Records a new token, before anyone sees it. */
    add: (token: ServiceToken, service: string) => add(token, service),
    /** The tokens of all services or of one, the newest first. */
    list: async (service?: string): Promise<readonly ListedToken[]> =>
      service === undefined || isStorable(service) ? withFaults(() => list(service)) : [],
    find: async (id: string) => (isStorable(id) ? withFaults(() => find(id)) : undefined),
    /** Records that the revocation list has it. */
    revoked: (token: ListedToken) => revoked(token),
  }
}

/**
 * Stores when service tokens were last used. Does nothing without the table: a gateway runs without it.
 */
export async function markServiceTokens(
  database: Database,
  seen: Parameters<typeof markSeen>[2],
): Promise<void> {
  await withFaults(async () => {
    const { optional } = await database.shapes()
    if (optional.has('postern_service_token')) {
      await markSeen(database, 'postern_service_token', seen)
    }
  })
}

type TokenRow = Selectable<Schema['postern_service_token']> & { readonly username: string | null }

function toToken(row: TokenRow): ListedToken {
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
