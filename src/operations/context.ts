import type { Actor } from '../stores/audit/audit.ts'
import type { SharedStores } from './shared-stores.ts'

/** Where a configuration comes from, and what stays open between operations. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Absent: an operation opens and closes its own stores. */
  readonly shared?: SharedStores
  /** Tells people at once what the answer will not say, such as a guess that it depends on. */
  err(text: string): void
}

/** For whom an operation works, and with what. */
export interface Context extends Surroundings {
  /** The configuration file that the caller names. */
  readonly configFile: string | undefined
  readonly actor: Actor
  /** Milliseconds since 1970. */
  now(): number
}
