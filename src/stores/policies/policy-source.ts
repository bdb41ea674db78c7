import type { CompiledPolicies } from '../../policy/engine/decision.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import type { Verified } from '../../signing/trust.ts'
import type { SnapshotState } from '../feed/write-failures.ts'

/** What a source has: files, how to tell them from others, and what they claim to be. */
export interface Offer {
  readonly files: readonly PolicyFile[]
  /** Equal for equal files. */
  readonly checksum: string
  readonly revision?: string
  readonly sequence?: number
  /** Who published it, as they say. */
  readonly author?: string
  /** With `policy.trust` only: the statement that its signers made. */
  readonly verified?: Verified
  /** With it: the document as stored, which the statement is about. */
  readonly document?: string
}

/** An offer so large that a thread of its own loads it; see `policy-threads.ts`. */
export interface LargeOffer extends Known {
  readonly loading: LoadingPolicy
}

/** A policy on its way through a thread. It ends by itself, soon after the last of its promises. */
interface LoadingPolicy {
  /** The policy made ready, or what is wrong with it. Rejects when the thread could not tell. */
  readonly compiled: Promise<CompiledPolicies | Error>
  /** The content of its snapshot. Rejects when no snapshot was requested or created. */
  readonly snapshot: Promise<Uint8Array>
  /** Ends it now, unless it is only the snapshot that is missing. */
  readonly end: () => void
}

/** What was taken from the source last. */
export type Known = Omit<Offer, 'files' | 'document'>

/** Where policies come from. */
export interface PolicySource {
  readonly name: 'files' | 'redis'
  /**
   * The newest offer, or `undefined` when it is the known one. Throws when the source cannot tell.
   * With the signal, work that continues after the answer is aborted too.
   */
  read(known: Known | undefined, signal?: AbortSignal): Promise<Offer | LargeOffer | undefined>
  /** From now on, calls back when something may be new. A hint too many does no harm. */
  watch(onHint: () => void): void
  /** To be called every few seconds, so that hints keep coming. Never throws. */
  check(): Promise<void>
  close(): Promise<void>
}

/** The last good offer, kept where a restart finds it. Nothing here throws. */
export interface PolicySnapshot {
  /** What was kept, verified, and when the source last said that it was the newest. */
  read(): Promise<{ readonly offer: Offer; readonly confirmedAt: number } | undefined>
  write(offer: Offer | LargeOffer): void
  /** The source still says the same. */
  confirm(): void
  /** Whether what was kept is gone, and has to be written again. */
  isLost(): boolean
  state(): SnapshotState
  close(): Promise<void>
}
