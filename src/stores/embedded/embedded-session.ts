import type { PGlite, PGliteTransaction } from 'kysely'

/**
 * A way to the embedded database: the one of the process that has it open, or one through that
 * process. A session that is lost never comes back; a new one has to be opened.
 */
export interface EmbeddedSession {
  readonly query: PGlite['query']
  transaction<Result>(work: (transaction: PGliteTransaction) => Promise<Result>): Promise<Result>
  lost(): boolean
  close(): Promise<void>
}
