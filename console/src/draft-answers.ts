import type { Exclusion, Rule } from './answers.ts'
import type { DraftFile } from './lib/draft.ts'

/** What the management API answers about drafts, as far as the editor reads it. */

/** `policy files` */
export interface FilesAnswer {
  readonly policy: string
  readonly revision: string | null
  readonly files: readonly DraftFile[]
}

/** A problem of a file, and where. */
export interface Finding {
  readonly file?: string
  readonly line?: number
  readonly column?: number
  readonly message: string
  /** Of a warning, such as `wide-rule`. */
  readonly code?: string
}

/** `policy check` */
export interface CheckAnswer {
  readonly errors: readonly Finding[]
  readonly warnings?: readonly Finding[]
  readonly rules?: number
  readonly roles?: number
  readonly exclusions?: number
}

interface Covered<Granted> {
  readonly total: number
  readonly decided: number
  readonly undecided: readonly Granted[]
}

/** `policy test` */
export interface TestsAnswer {
  readonly tests: number
  readonly failed: number
  readonly failures: readonly Finding[]
  readonly coverage: {
    readonly percent: number
    readonly rules: Covered<Rule>
    readonly exclusions: Covered<Exclusion>
  }
}

interface Distinct {
  readonly count: number
  readonly some: readonly string[]
}

/** Recorded calls that the draft would decide otherwise. */
export interface ReplayChange {
  readonly result: 'allow' | 'deny'
  readonly calls: number
  readonly users: Distinct
  readonly roles: Distinct
  readonly methods: Distinct
  readonly example: { readonly roleKey: string; readonly method: string; readonly path: string }
  readonly now: { readonly step: string; readonly rule?: Rule; readonly exclusion?: Exclusion }
}

/** `policy replay` */
export interface ReplayAnswer {
  readonly decisions: number
  readonly asked: number
  readonly unchanged: number
  readonly wouldDeny: number
  readonly wouldAllow: number
  /** What no policy decided. */
  readonly notAsked: { readonly identity: number; readonly route: number }
  /** By reason, such as a hashed path. */
  readonly couldNotAsk: Readonly<Record<string, number>>
  readonly first?: string
  readonly last?: string
  readonly changes: readonly ReplayChange[]
}

/** `policy propose`, in so far as it says whether the proposal is stored. */
export interface ProposeAnswer {
  readonly revision?: string
  readonly failed?: number
  readonly tests?: number
}
