import type { DraftDirectory } from '../operations/context.ts'
import type { SharedStores } from '../operations/shared-stores.ts'
import type { Actor } from '../stores/audit/audit.ts'

/** What a command may touch. Results go to `out`, messages to `err`. */
export interface Io {
  out(text: string): void
  err(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** All of standard input, as text. */
  readStdin(): Promise<string>
  /** The same piece by piece, as bytes. */
  streamStdin?(): AsyncIterable<Uint8Array>
  /** Whether a person watches `err` and can answer; absent: no. */
  readonly isTerminal?: boolean
  /** Asks that person for one line. */
  ask?(question: string): Promise<string>
  /** The same, not shown if `isHidden`; `undefined` after Ctrl-C or the end of the input. */
  prompt?(question: string, options?: { readonly isHidden?: boolean }): Promise<string | undefined>
  /** The name of the operating system's user. */
  readonly userName?: string
  /** The person on whose behalf another program runs this command; absent: that user. */
  readonly actor?: Actor
  /** Roles that this person must not give, and whose accounts they must not change; absent: none. */
  readonly protectedRoles?: readonly string[]
  /** Called when a command refuses because of them: its exit code says "no" only. */
  onNotPermitted?(): void
  /** Stores that stay open between commands; absent: a command opens and closes its own. */
  readonly shared?: SharedStores
  /** What the directory with its name is; absent: directories are on this machine. */
  readonly draft?: DraftDirectory
  /** Milliseconds since 1970; absent: the clock of the system. */
  now?(): number
  /** The CPU time of this thread in milliseconds; absent: the wall clock counts instead. */
  cpuMs?(): number
  /** The process that a gateway runs in: its signals, streams and exit. */
  readonly host?: NodeJS.Process
}
