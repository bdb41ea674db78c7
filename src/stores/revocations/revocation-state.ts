import type { SnapshotState } from '../feed/write-failures.ts'
import type { RevocationStore } from './revocation-store.ts'

export interface RevocationSettings {
  /** For how long the list may go unconfirmed. */
  readonly maxAgeMs: number
  /** What then: go on with what is known, or answer 503 to the tokens it can say nothing about. */
  readonly whenStale: 'serve' | 'refuse'
}

/** What operators see of the list. */
export interface RevocationState {
  readonly source: RevocationStore['name']
  readonly tokens: number
  readonly users: number
  /** Seconds since the store last confirmed the list; absent when it never did. */
  readonly ageSeconds: number | undefined
  readonly stale: boolean
  readonly whenStale: RevocationSettings['whenStale']
  /** Whether something ended here that the store does not know yet. */
  readonly unsaid: boolean
  readonly lastError: string | undefined
  /** The file that a restart without the store begins with, if there is one. */
  readonly snapshot: SnapshotState | undefined
}
