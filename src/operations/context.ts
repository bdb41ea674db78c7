import type { PolicyFile } from '../policy/set/policy-set.ts'
import type { Actor } from '../stores/audit/audit.ts'
import type { Progress } from './progress.ts'
import type { SharedStores } from './shared-stores.ts'

export type { Actor }

/** A policy directory that a caller sent, in place of one on this machine. */
export interface DraftDirectory {
  readonly name: string
  readonly files: readonly PolicyFile[]
  readonly tests: readonly PolicyFile[]
}

/** Where a configuration comes from, and what stays open between operations. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Absent: an operation opens and closes its own stores. */
  readonly shared?: SharedStores
  /** What the directory with its name is; absent: directories are on this machine. */
  readonly draft?: DraftDirectory
  /** Milliseconds since 1970; absent: the clock of the system. */
  now?(): number
  /** The CPU time of this thread in milliseconds; absent: the wall clock counts instead. */
  cpuMs?(): number
  /** Absent: no terminal shows it. */
  readonly progress?: Progress
  /** Tells people at once what the answer will not say, such as a guess that it depends on. */
  err(text: string): void
}

/** For whom an operation works, and with what. */
export interface Context extends Surroundings {
  /** The configuration file that the caller names. */
  readonly configFile: string | undefined
  readonly actor: Actor
  /** The name of the operating system's user. */
  readonly userName?: string
  /** Roles that the actor must not give, and whose accounts they must not change; absent: none. */
  readonly protectedRoles?: readonly string[]
  /** A person reads the review of a change before they confirm it. */
  readonly isAsked?: boolean
  /** All of standard input, as text; of callers over the network, nothing. */
  readStdin(): Promise<string>
  /** Standard input piece by piece. */
  streamStdin?(): AsyncIterable<Uint8Array>
  now(): number
}
