import type { PlacedDiff } from '../../answers/placed-diff.ts'
import { Fault } from '../../kernel/errors.ts'
import type { Finding } from '../../policy/checks/check.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Trust } from '../../signing/trust.ts'
import type { Actor } from '../../stores/audit/audit.ts'
import {
  type Move,
  type PolicyDocument,
  type PolicyStore,
  policyOf,
} from '../../stores/policies/policy-store.ts'
import type { LiveState } from '../../stores/policies/proposals/live-state.ts'
import type { ReviewedProposal } from '../../stores/policies/proposals/review-proposal.ts'

/** What a person should know while a change is reviewed or made. Programs read its result instead. */
export type Remark =
  /** One line; empty: nothing to say. */
  | { readonly note: string }
  | { readonly warnings: readonly Finding[] }
  /** Gateways may ignore the head in Redis. */
  | { readonly live: LiveState }
  | { readonly proposal: ReviewedProposal }
  | { readonly change: Change }

/** What a policy changes, or why it could not be compared: then all of it is new. */
interface Change {
  readonly set: PolicySet
  readonly diff: PlacedDiff | string
}

export type Tell = (remark: Remark) => void

/** What reviews and commits need: the policies in Redis, whose signatures count, and who reads along. */
export interface ReviewParts {
  readonly store: PolicyStore
  readonly trust: Trust | undefined
  /** The signed history that the database has. */
  readonly recorded: () => Promise<readonly Move[]>
  readonly compare: (from: PolicySet, to: PolicySet) => PlacedDiff
  /** Who makes the change, for the history. */
  readonly actor: Actor
  readonly tell: Tell
}

/** A document in Redis, or why there is none that can be used. */
export function readStored(revision: string, store: PolicyStore): Promise<PolicyDocument | string> {
  return unlessBroken(async () => (await store.read(revision)) ?? 'Redis lost its document')
}

/** The live policy, or why it cannot be compared with; a push then repairs it. */
export async function readLive(
  revision: string | undefined,
  store: PolicyStore,
): Promise<PolicySet | string> {
  if (revision === undefined) return 'nothing is published yet'
  return unlessBroken(async () => {
    const document = await store.read(revision)
    return document === undefined
      ? `${revision} is live, but its document is lost`
      : policyOf(document)
  })
}

/** What is broken in Redis is an answer; that Redis itself fails is not. */
async function unlessBroken<Result>(read: () => Promise<Result>): Promise<Result | string> {
  try {
    return await read()
  } catch (error) {
    // With a cause, Redis itself fails, and not the document in it.
    if (error instanceof Fault && error.cause === undefined) return error.message
    throw error
  }
}

/** Compares a policy and tells what it changes; `undefined` where there is nothing to compare with. */
export function compareWith(
  before: PolicySet | string,
  set: PolicySet,
  { compare, tell }: Pick<ReviewParts, 'compare' | 'tell'>,
): PlacedDiff | undefined {
  const diff = typeof before === 'string' ? before : compare(before, set)
  tell({ change: { set, diff } })
  return typeof diff === 'string' ? undefined : diff
}
