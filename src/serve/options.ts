import type { Config } from '../config/schema/schema.ts'
import type { DecisionBatch } from '../fleet/decision-batch.ts'
import type { Log } from '../log/log.ts'
import type { VerifyPassword } from '../login/method-kind.ts'
import type { SeededAccount } from '../stores/accounts/seed.ts'
import type { GatewayOps } from '../workers/worker.ts'

export interface ServeOptions {
  readonly config: Config
  readonly log: Log
  /** Environment variables, for what describes the deployment to a collector of spans. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Seconds since the epoch. */
  readonly now?: () => number
  /** Checks names and passwords in another way (specification, Authentication 7). */
  readonly verifyPassword?: VerifyPassword
  /** Draws a captcha in another way. */
  readonly draw?: (text: string, noise?: Buffer) => Promise<Buffer>
  /** Runs when all modules are loaded and no port is open. */
  readonly beforeListening?: () => void
  /** Whether a person reads the output. Unset: no, it is a log. */
  readonly isTerminal?: boolean
  /** Closes connections that are being drained. */
  readonly abortSignal?: AbortSignal
  /** The configuration file that this process follows. Unset: it follows none. */
  readonly configuration?: () => ConfigState
  /**
   * Set in a process beside others: its supervisor has the ops port and logs what is logged once. 0 is
   * the console.
   */
  readonly asWorker?: { readonly number: number; readonly ticketKeys: Buffer }
}

/** What operators see of the configuration. */
export interface ConfigState {
  readonly file: string
  /** Of the active configuration. */
  readonly revision: string
  /** When it became active. */
  readonly since: string
  /** When the file was last read and differed, successfully or not. */
  readonly lastReload: string
  /** Why the current file is not active, if so. */
  readonly lastError: string | undefined
  /** Changed settings that only a restart applies. */
  readonly needRestart: readonly string[]
  readonly reloads: { readonly ok: number; readonly failed: number }
}

/** Accounts created at the first start of the embedded database. */
export interface FirstAccounts {
  /** With their passwords. */
  readonly seeded: readonly SeededAccount[]
  /** The file that has these passwords. Unset: only a terminal shows them. */
  readonly passwordFile?: string
  /** The file that has them until a terminal has shown them: delete it then. */
  readonly unprintedFile?: string
}

export interface RunningPostern {
  readonly publicPort: number
  /** 0 in a worker. */
  readonly opsPort: number
  /** `undefined` unless `forwardAuth.enabled`. */
  readonly forwardAuthPort: number | undefined
  /** `undefined` unless this was the first start of the embedded database. */
  readonly firstAccounts: FirstAccounts | undefined
  /** The policy that was active when it began to listen. */
  readonly revision: string | undefined
  /**
   * Serves new requests by the reloadable settings of this configuration. Throws, and changes nothing,
   * when a file that it names cannot be used.
   */
  apply(config: Config): Promise<void>
  /** What each process decided since the last call, for the console that asks every half second. */
  takeDecisions(): Promise<readonly DecisionBatch[]>
  /** What the ops port shows. */
  readonly ops: GatewayOps
  close(): Promise<void>
}

/** Seconds since the epoch: `now` unless a test gives another clock. */
export function clock(): number {
  return Date.now() / 1000
}
