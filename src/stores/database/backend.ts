import type {
  Dialect,
  Driver,
  Expression,
  Kysely,
  OperationNode,
  QueryCompiler,
  RawBuilder,
  SqlBool,
} from 'kysely'
import type { Fault, Invalid } from '../../kernel/errors.ts'
import type { OptionalTable, Schema } from './tables.ts'

/**
 * A kind of database: how it is reached, what its SQL says differently, and what its catalog tells.
 * One file of this folder is one backend; `open-database.ts` lists them.
 */
export interface Backend {
  readonly kind: 'embedded' | 'postgres' | 'mysql'
  /** Connections. They repeat a statement that met a concurrent change, outside of transactions. */
  connect(options: BackendOptions): Promise<Dialect>
  readonly fragments: Fragments
  readonly catalog: Catalog
  /**
   * Whether a statement can change several tables and return rows of each (`with … insert …
   * returning`). Without it, the stores need a few statements more.
   */
  readonly returnsRows: boolean
  /** Whether a column beside the key numbers itself. */
  readonly numbers: boolean
}

/** How to reach a database. */
export interface BackendOptions {
  /** A `postgres://`, `mysql://` or `mariadb://` address; without one the embedded database is used. */
  readonly url?: string
  /** Where the embedded database lives. */
  readonly directory: string
  /** Whether the embedded database may be created in a directory of another user. */
  readonly mayCreate?: boolean
  /** `false`: the embedded database is used only while another process has it open. */
  readonly mayHost?: boolean
  /** Called before the embedded database is created, which takes seconds. */
  readonly onCreate?: () => void
  readonly poolSize: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  /**
   * Called when the server is unreachable. With it, an unreachable server does not keep the gateway
   * from starting: the first query that reaches it prepares the tables.
   */
  readonly onUnreachable?: (fault: Fault | Invalid) => void
}

/** What databases spell differently in the queries of the stores; `dialect.ts` offers them. */
export interface Fragments {
  createCompiler(): QueryCompiler
  /** The time by the clock of the database, also within a transaction. */
  readonly clock: RawBuilder<Date>
  /** The time when the statement began. */
  readonly now: RawBuilder<Date>
  /** Milliseconds since the epoch by the clock of the database: those of gateways may differ. */
  readonly nowMs: RawBuilder<string>
  /** A time as milliseconds since the epoch, as text. */
  epochMs(time: Expression<unknown>): RawBuilder<string>
  /** The time that is so many milliseconds since the epoch. */
  timeAt(ms: number): RawBuilder<Date>
  /** A time, earlier by milliseconds: a number, or a column. */
  before(time: Expression<unknown>, ms: number | Expression<unknown>): RawBuilder<Date>
  /** A time of any type as RFC 3339 in UTC, to the millisecond. */
  timeText(time: Expression<unknown>): RawBuilder<string | null>
  /** A day as `YYYY-MM-DD`. */
  dayText(day: Expression<unknown>): RawBuilder<string>
  /**
   * Whether a text column of go-admin has exactly this value. Its MySQL tables compare without regard
   * to letter case, accents and blanks at the end: "Admin" must not log in as "admin".
   */
  same(column: Expression<unknown>, value: unknown): RawBuilder<SqlBool>
  /** A list for `in`, which may be empty. */
  listOf(values: readonly string[]): RawBuilder<string>
  /** A list of numbers for `in`, which may be empty. */
  idsOf(ids: readonly string[]): RawBuilder<string>
  /** Rows as a table with these columns, for `from`. */
  tableOf(
    name: string,
    columns: Readonly<Record<string, RowType>>,
    rows: readonly Readonly<Record<string, unknown>>[],
  ): RawBuilder<never>
  /**
   * Lets one transaction at a time go on, until it ends. Where a row is the lock, `detail` does not
   * divide it.
   */
  lockUntilCommit(name: string, detail: string): RawBuilder<unknown>
  /** A number of 60 bits that differs where one of these texts does. */
  rowDigest(texts: readonly Expression<unknown>[]): RawBuilder<string>
}

export type RowType =
  | 'text'
  | 'bigint'
  | 'int'
  | 'float8'
  | 'boolean'
  | 'uuid'
  | 'date'
  | 'timestamptz'
/** The types that a column of go-admin's tables may have, by what Postern does with it. */
export type FittingTypes = Readonly<
  Record<'number' | 'text' | 'flag' | 'time' | 'mark' | 'id', readonly string[]>
>

/** The tables of a server, and what this user of it may do. */
export interface Catalog {
  readonly fittingTypes: FittingTypes
  /** Creates missing tables and changes none. Several replicas can do it at once. */
  migrate(db: Kysely<Schema>): Promise<void>
  /** The tables that `migrate` creates, those of the backend included. */
  readonly tables: readonly string[]
  /** Which of these tables exist, as far as this user can see. */
  existing(db: Kysely<Schema>, names: readonly string[]): Promise<readonly string[]>
  columnsOf(
    db: Kysely<Schema>,
    tables: readonly string[],
  ): Promise<readonly Readonly<Record<'table' | 'column' | 'type', string>>[]>
  /** Which of these tables exist and may be read by this user. */
  readable(db: Kysely<Schema>, names: readonly string[]): Promise<readonly string[]>
  /** Whether a table exists, also one that this user may not read. */
  tableExists(db: Kysely<Schema>, name: OptionalTable): Promise<boolean>
  /** Of a table of another product: along the search path that queries use. */
  readonly isHere: RawBuilder<SqlBool>
  /** Whether this user may create tables; `undefined` where the server does not tell. */
  mayCreateTables(db: Kysely<Schema>): Promise<boolean | undefined>
  isReadOnly(db: Kysely<Schema>): Promise<boolean>
  /** Whether this user can delete rows of the audit log. */
  canDeleteAudit(db: Kysely<Schema>): Promise<boolean>
  /** What identifies the table of revocations: another one after it was restored or emptied. */
  readonly revocationList: RawBuilder<string>
}

/** Kysely's dialect with the compiler of a backend, which `backendOf` finds again. */
export function withBackend(dialect: Dialect, backend: Backend): Dialect {
  return {
    ...withDriver(dialect, (driver) => driver),
    createAdapter: () => Object.assign(dialect.createAdapter(), { backend }),
    createQueryCompiler: () => backend.fragments.createCompiler(),
  }
}

/** Kysely's dialect with a wrapper around its driver. */
export function withDriver(dialect: Dialect, wrap: (driver: Driver) => Driver): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => wrap(dialect.createDriver()),
  }
}

/** The backend of a database or of a transaction in it. */
export function backendOf(db: { getExecutor(): { readonly adapter: unknown } }): Backend {
  const { backend } = db.getExecutor().adapter as { readonly backend?: Backend }
  if (backend === undefined) throw new Error('not a database of ours')
  return backend
}

/** The node that this backend has for a fragment that differs, and `undefined` for every other node. */
export function chosenNode(node: OperationNode, fragments: Fragments): OperationNode | undefined {
  if (!('choose' in node)) return undefined
  return (node.choose as (from: Fragments) => RawBuilder<unknown>)(fragments).toOperationNode()
}
