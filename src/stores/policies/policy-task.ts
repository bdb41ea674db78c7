import type { FaultPart, Problem } from '../../kernel/errors.ts'
import type { FlatPolicies } from '../../policy/engine/flat-policies.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import type { Verified } from '../../signing/trust.ts'

/** A file as bytes: what is large is not made into text on the thread that forwards requests. */
export interface PolicyBytes {
  readonly name: string
  readonly bytes: Uint8Array
}

/** What a thread loads: a stored document, which it verifies first, or the files themselves. */
export type PolicyTask =
  | {
      readonly kind: 'document'
      /** The bytes of the document, one piece after the other. */
      readonly pieces: readonly Uint8Array[]
      readonly revision: string
      readonly sequence: number
      /** Who published it, for the snapshot. */
      readonly author?: string
      /** The statement that its signers made, for the snapshot. */
      readonly verified?: Verified | undefined
      /** Whether a snapshot is wanted as well. */
      readonly snapshot: boolean
    }
  | { readonly kind: 'files'; readonly files: readonly PolicyBytes[] }

/**
 * What a thread says: that a document is verified, then what came of it, then the snapshot. Files
 * come back when casbin has to answer for them: its rules cannot change threads.
 */
export type PolicyReply =
  | { readonly kind: 'verified'; readonly checksum: string }
  | { readonly kind: 'compiled'; readonly flat: FlatPolicies }
  | { readonly kind: 'files'; readonly files: readonly PolicyFile[] }
  | { readonly kind: 'snapshot'; readonly bytes: Uint8Array }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  | { readonly kind: 'fault'; readonly part: FaultPart; readonly reason: string }
