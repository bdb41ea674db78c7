import type { PGlite, PGliteTransaction } from 'kysely'

/**
 * Access to the embedded database: direct in the process that has it open, through that process in
 * others. A lost session never recovers; open a new one.
 */
export interface EmbeddedSession {
  readonly query: PGlite['query']
  transaction<Result>(work: (transaction: PGliteTransaction) => Promise<Result>): Promise<Result>
  lost(): boolean
  close(): Promise<void>
}
