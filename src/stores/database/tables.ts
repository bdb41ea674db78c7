import type { ColumnType } from 'kysely'

/** What a column can hold, and what queries read, insert and update there. */
interface Kinds {
  /** Numbered by the database: a key. Drivers return eight bytes as text: a number holds 53 bits. */
  readonly serial: ColumnType<string, string | undefined, string>
  /** Numbered by the database beside a key. */
  readonly counter: ColumnType<string, string | number | undefined, string | number>
  readonly bigint: ColumnType<string, string | number, string | number>
  readonly integer: ColumnType<number, number, number>
  readonly varchar: ColumnType<string, string, string>
  readonly text: ColumnType<string, string, string>
  readonly boolean: ColumnType<boolean, boolean, boolean>
  readonly time: ColumnType<Date, Date, Date>
  /** Compared as `YYYY-MM-DD`; read only with `dayText`. */
  readonly date: ColumnType<string, string, string>
  readonly uuid: ColumnType<string, string, string>
  /** A time, or a number in later versions of go-admin: only `live` reads it. */
  readonly mark: ColumnType<unknown, unknown, unknown>
}

export type ColumnKind = keyof Kinds

interface Column {
  readonly kind: ColumnKind
  /** In characters, of a `varchar`. */
  readonly length: number | undefined
  readonly nullable: boolean
  /** `clock`: the time also within a transaction. */
  readonly default: 'now' | 'clock' | 'zero' | undefined
}

export interface Table {
  readonly columns: Readonly<Record<string, Column>>
  readonly key: readonly string[]
  readonly indexes: readonly {
    /** What follows the name of the table. */
    readonly name: string
    readonly columns: readonly string[]
    /** `live`: among the rows that are not marked as deleted. */
    readonly unique: 'all' | 'live' | undefined
  }[]
}

/** Column names, separated by commas. */
interface Keys {
  readonly key: string
  readonly indexes?: Readonly<Record<string, string>>
  readonly unique?: Readonly<Record<string, string>>
  readonly live?: string
}

/** A table from `name kind(length)`, with `?` where NULL may be and `=default`. */
function table<const Lines extends readonly string[]>(
  { key, indexes = {}, unique = {}, live }: Keys,
  ...lines: Lines
): Table & { readonly row?: RowOf<Lines> } {
  const columns = lines
    .flatMap((line) => line.split(', '))
    .map((text) => {
      const [, name = '', kind, length, mark, value] =
        /^(\w+) (\w+)(?:\((\d+)\))?(\?)?(?:=(\w+))?$/.exec(text) ?? []
      const size = length === undefined ? undefined : Number(length)
      return [
        name,
        { kind, length: size, nullable: mark === '?', default: value } as Column,
      ] as const
    })
  const index = (of: Readonly<Record<string, string>>, how: 'all' | 'live' | undefined) =>
    Object.entries(of).map(([name, on]) => ({ name, columns: on.split(', '), unique: how }))
  return {
    columns: Object.fromEntries(columns),
    key: key.split(', '),
    indexes: [
      ...(live === undefined ? [] : index({ [`live_${live}`]: live }, 'live')),
      ...index(unique, 'all'),
      ...index(indexes, undefined),
    ],
  }
}

/** Other products fill go-admin's tables too: every column may be NULL. */
const history = 'create_by bigint?, update_by bigint?, created_at time?, updated_at time?'

/** The tables that a gateway needs: go-admin v2.4's, and those of logins and revocations. */
export const tables = {
  sys_role: table(
    { key: 'role_id', live: 'role_key' },
    'role_id serial, role_name varchar(128)?, status varchar(4)?, role_key varchar(128)?',
    'role_sort bigint?, flag varchar(128)?, remark varchar(255)?, admin boolean?',
    'data_scope varchar(128)?',
    history,
    'deleted_at mark?',
  ),
  sys_user: table(
    { key: 'user_id', live: 'username' },
    'user_id serial, username varchar(64)?, password varchar(128)?, nick_name varchar(128)?',
    'phone varchar(11)?, role_id bigint?, salt varchar(255)?, avatar varchar(255)?',
    'sex varchar(255)?, email varchar(128)?, dept_id bigint?, post_id bigint?',
    'remark varchar(255)?, status varchar(4)?',
    history,
    'deleted_at mark?',
  ),
  sys_login_log: table(
    { key: 'id' },
    'id serial, username varchar(128)?, status varchar(4)?, ipaddr varchar(255)?',
    'login_location varchar(255)?, browser varchar(255)?, os varchar(255)?',
    'platform varchar(255)?, login_time time?, remark varchar(255)?, msg varchar(255)?',
    history,
  ),
  postern_login_attempt: table(
    { key: 'attempt_id', indexes: { recorded_at: 'recorded_at' } },
    'attempt_id uuid, recorded_at time=now',
  ),
  postern_revocation: table(
    { key: 'name', unique: { sequence: 'sequence' }, indexes: { until: 'until_ms' } },
    'name varchar(160), user_id varchar(32), moment_ms bigint, until_ms bigint, sequence counter',
  ),
}

/**
 * Login and logout work without these. So a gateway whose user may not create tables, or that
 * reaches a read-only standby, starts without them.
 */
export const optionalTables = {
  postern_policy_usage: table(
    { key: 'day, kind, name' },
    'day date, kind varchar(16), name varchar(2048), count bigint, last_ms bigint',
  ),
  postern_policy_move: table(
    { key: 'prefix, move_id', indexes: { sequence: 'prefix, sequence' } },
    'prefix varchar(128), move_id varchar(160), sequence bigint, move text, recorded_at time=now',
  ),
  postern_audit: table(
    { key: 'id', indexes: { at: 'at', action: 'action, subject, id' } },
    'id serial, at time=clock, actor_kind varchar(16), actor varchar(128), origin varchar(255)',
    'action varchar(64), subject varchar(255), before text?, after text?',
  ),
  postern_session: table(
    { key: 'token_id', indexes: { user: 'user_id, issued_ms', expires: 'expires_ms' } },
    'token_id varchar(128), user_id varchar(32), username varchar(64), role_key varchar(128)',
    'address varchar(64), agent varchar(255), issued_ms bigint, expires_ms bigint, seen_ms bigint',
  ),
  postern_service_account: table(
    { key: 'user_id' },
    'user_id bigint, note varchar(255), created_at time=now',
  ),
  postern_service_token: table(
    { key: 'token_id', indexes: { user: 'user_id' } },
    'token_id varchar(64), user_id bigint, role_key varchar(128), note varchar(255)',
    'kid varchar(64), issued_by varchar(128), issued_ms bigint, expires_ms bigint',
    'seen_ms bigint?, revoked_ms bigint?',
  ),
  postern_login_lockout: table(
    { key: 'name, owner', indexes: { until: 'until_ms' } },
    'name varchar(160), owner varchar(64), kind varchar(16), sealed text, since_ms bigint',
    'until_ms bigint, cleared_ms bigint?',
  ),
  postern_identity: table(
    { key: 'issuer, subject', indexes: { user: 'user_id' } },
    'issuer varchar(255), subject varchar(255), provider varchar(64), user_id bigint',
    'linked_by varchar(128), linked_at time=now, seen_ms bigint?',
  ),
  postern_provider_session: table(
    {
      key: 'token_id',
      indexes: {
        subject: 'provider, subject',
        session: 'provider, session',
        expires: 'expires_ms',
      },
    },
    'token_id varchar(128), user_id varchar(64), issued_ms bigint, provider varchar(64)',
    'subject varchar(255), session varchar(255)?, sealed text?, expires_ms bigint',
  ),
  postern_used_once: table(
    { key: 'name', indexes: { until: 'until_ms' } },
    'name varchar(160), until_ms bigint',
  ),
  postern_totp: table(
    { key: 'user_id' },
    'user_id bigint, key_id varchar(64), sealed text, last_step bigint, failures integer=zero',
    'enrolled_at time=now',
  ),
  postern_recovery_code: table(
    { key: 'user_id, digest' },
    'user_id bigint, digest varchar(64), used_ms bigint?',
  ),
}

/** What Postern created here, so that it fills no table of another product. */
export const migrationTable = {
  postern_migration: table({ key: 'name' }, 'name varchar(128), applied_at time=now'),
}

/** For databases without locks that end with a transaction: rows to lock, which also count. */
export const lockTable = {
  postern_lock: table({ key: 'name' }, 'name varchar(64), value bigint=zero'),
}

export const everyTable = { ...tables, ...optionalTables, ...migrationTable, ...lockTable }

/** What kysely knows of the tables. */
export type Schema = {
  readonly [Name in keyof typeof everyTable]: NonNullable<(typeof everyTable)[Name]['row']>
}

type RowOf<Lines extends readonly string[]> = {
  readonly [Text in ColumnsIn<Lines[number]> as NameIn<Text>]: CellOf<KindIn<Text>>
}

type ColumnsIn<Line extends string> = Line extends `${infer First}, ${infer Rest}`
  ? First | ColumnsIn<Rest>
  : Line

type NameIn<Text> = Text extends `${infer Name} ${string}` ? Name : never
type KindIn<Text> = Text extends `${string} ${infer Kind}` ? Kind : never

type CellOf<Kind extends string> = Kind extends `${infer Of}?`
  ? CellOf<Of> extends ColumnType<infer Read, infer Inserted, infer Written>
    ? ColumnType<Read | null, Inserted | null, Written | null>
    : never
  : Kind extends `${infer Of}=${string}`
    ? CellOf<Of> extends ColumnType<infer Read, infer Inserted, infer Written>
      ? ColumnType<Read, Inserted | undefined, Written>
      : never
    : Kind extends `${infer Of}(${string})`
      ? CellOf<Of>
      : Kind extends ColumnKind
        ? Kinds[Kind]
        : never

export type OptionalTable = keyof typeof optionalTables

export const optionalTableNames = Object.keys(optionalTables) as readonly OptionalTable[]

/** What a database calls the kinds of columns and their defaults. */
type ColumnTexts = Readonly<Record<ColumnKind | NonNullable<Column['default']>, string>>

/** The columns of `create table`, without the key. */
export function columnLines({ columns }: Table, texts: ColumnTexts): string[] {
  return Object.entries(columns).map(([name, { kind, length, nullable, default: value }]) => {
    const type = length === undefined ? texts[kind] : `${texts[kind]}(${length})`
    const filled = value === undefined ? '' : ` default ${texts[value]}`
    return `"${name}" ${type}${nullable ? '' : ' not null'}${filled}`
  })
}

export function quotedNames(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}
