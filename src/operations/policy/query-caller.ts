import type { TokenProblem } from '../../admission/verdict.ts'
import type { DocumentOf } from '../operation.ts'
import type { policyExplain } from './descriptions.ts'

/** Who makes the call: a role, or a sender whom the gateway does not identify. */
export type QueryCaller = (IdentifiedCaller | UnidentifiedCaller) & {
  /** The subject of a sentence. */
  readonly name: string
  /** What is known besides, as rows of a table and for the document. */
  readonly rows: readonly (readonly string[])[]
  readonly facts: Pick<DocumentOf<typeof policyExplain>, 'account' | 'token'>
  readonly notes: readonly string[]
}

interface IdentifiedCaller {
  readonly roleKey: string
  /** The domain that a claim of the token names; `null`: the token has none. */
  readonly domain?: string | null
}

interface UnidentifiedCaller {
  readonly roleKey?: undefined
  readonly problem: TokenProblem
  /** More precise than the problem. */
  readonly why?: string
}
