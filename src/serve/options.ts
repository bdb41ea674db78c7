import type { Config } from '../config/schema/schema.ts'
import type { Log } from '../log/log.ts'
import type { VerifyCredentials } from '../login/credentials.ts'
import type { SeededAccount } from '../stores/accounts/seed.ts'
import type { GatewayOps } from '../workers/worker.ts'

export interface ServeOptions {
  readonly config: Config
  readonly log: Log
  /** Seconds since the epoch. */
  readonly now?: () => number
  /** Another login method (specification, Authentication 7). */
  readonly verifyCredentials?: VerifyCredentials
  /** Another picture of a captcha's text. */
  readonly draw?: (text: string) => Promise<Buffer>
  /** What is to be done to the process once all is loaded. */
  readonly beforeListening?: () => void
  /** Cuts what is being drained when it fires. */
  readonly abortSignal?: AbortSignal
  /** One of several processes: the ops port, and what is said once, are their supervisor's. */
  readonly asWorker?: { readonly number: number; readonly ticketKeys: Buffer }
}

export interface RunningPostern {
  readonly publicPort: number
  /** 0 in a worker, which has none. */
  readonly opsPort: number
  /** Where other proxies ask, if they may. */
  readonly forwardAuthPort: number | undefined
  /** Accounts made at the first start of the embedded database, with their passwords. */
  readonly seeded: readonly SeededAccount[]
  /** The policy that was in force when it began to listen, if there was one. */
  readonly revision: string | undefined
  /** What the ops port shows. */
  readonly ops: GatewayOps
  close(): Promise<void>
}
