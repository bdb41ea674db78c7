import { guardrailProblems } from '../../answers/guard.ts'
import type { PlacedDiff } from '../../answers/placed-diff.ts'
import { Fault, type Problem } from '../../kernel/errors.ts'
import type { Finding } from '../../policy/checks/check.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Obstacle, PromotionTerms } from '../../policy/shadow/promotion.ts'
import type { Trust } from '../../signing/trust.ts'
import type { Actor } from '../../stores/audit/audit.ts'
import { HISTORY } from '../../stores/policies/document/read-moves.ts'
import {
  type Move,
  type PolicyDocument,
  type PolicyStore,
  policyOf,
} from '../../stores/policies/policy-store.ts'
import type { ReviewedProposal } from '../../stores/policies/proposals/review-proposal.ts'
import type { Context } from '../context.ts'
import { Refused } from '../declined.ts'
import type { Reviewed } from '../operation.ts'
import { compareAccess } from '../policy/compare-access.ts'
import type { Replayed } from '../policy/evidence-descriptions.ts'
import { readRecordedMoves } from '../policy/recorded-moves.ts'
import type { TestReport } from '../policy/run-tests.ts'
import { type PolicySettings, policySettings } from '../policy-settings.ts'
import type { ObservedShadow } from './observed-shadow.ts'

/** What a person should know before they agree to a change, or what came of it. */
export type Remark =
  /** One line; empty: nothing to say. */
  | { readonly note: string }
  /** Why the change is not made, where the error alone does not say it. */
  | { readonly refusal: string }
  | { readonly errors: readonly Problem[] }
  | { readonly warnings: readonly Finding[] }
  | TestsRemark
  | { readonly proposal: ReviewedProposal }
  | { readonly shadow: ObservedShadow }
  | { readonly change: Change }
  | { readonly replay: Replayed }
  | { readonly obstacles: readonly Obstacle[]; readonly terms: PromotionTerms }

/** The results of the tests of a directory. */
interface TestsRemark {
  readonly tests: TestReport
  readonly directory: string
  /** What they do not show. */
  readonly about: string | undefined
  /** It needs tests, and has none. */
  readonly isUntested?: boolean
}

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

/** What a change is reviewed with: a configuration, and the person who reads along. */
export interface ReviewIo {
  readonly settings: PolicySettings
  readonly context: Context
  readonly tell: Tell
}

/** The parts of a review of the policies in Redis. */
export function reviewParts(
  store: PolicyStore,
  { settings, context, tell }: ReviewIo,
): ReviewParts {
  const { admission } = settings.admission()
  return {
    ...{ store, tell, trust: settings.trust(), actor: context.actor },
    compare: (from, to) => compareAccess({ from, to }, admission, context),
    recorded: () => signedHistory({ settings, context, tell }),
  }
}

/**
 * The history that vouches for signed policies where Redis lost it, or someone deleted it there; nothing
 * without `policy.trust`. Notes a database that does not answer.
 */
async function signedHistory({ settings, context, tell }: ReviewIo): Promise<readonly Move[]> {
  if (settings.trust() === undefined) return []
  const { moves, problem } = await readRecordedMoves(settings, HISTORY, context.cwd)
  if (problem !== undefined) {
    tell({ note: `note: could not read the signed history from the database: ${problem}` })
  }
  return moves
}

/**
 * Keeps what a review finds for the person who decides about it. What stops the review is its refusal: they
 * read that after what was found.
 */
export async function withRemarks<Plan, Document, Shown>(
  outer: Context,
  work: (reviewing: ReviewIo) => Promise<Reviewed<Plan, Document, Shown>>,
): Promise<Reviewed<Plan, Document, Shown>> {
  const remarks: Remark[] = []
  const tell = (remark: Remark) => void remarks.push(remark)
  let isOver = false
  // What the commit tells comes at once.
  const err = (text: string) => (isOver ? outer.err(text) : tell({ note: text.trimEnd() }))
  try {
    const context = { ...outer, err }
    const settings = policySettings(context.configFile, context)
    const reviewed = await work({ settings, context, tell })
    isOver = true
    return { ...reviewed, shown: { ...(reviewed.shown ?? {}), remarks } }
  } catch (error) {
    const refusal = error as Error
    return {
      document: {} as Plan,
      shown: { remarks },
      refusal,
      commit: () => Promise.reject(error),
    }
  }
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

/**
 * Refuses a stored policy that breaks one of its guardrails: another version stored it, or other routes are
 * configured since. Tests are not stored, so routes without one are left to the person who has its directory.
 */
export function refuseBroken(set: PolicySet, { settings, tell }: Omit<ReviewIo, 'context'>): void {
  const guardrails = set.guardrails?.filter(({ kind }) => kind !== 'route-tests') ?? []
  if (guardrails.length === 0) return
  const { admission } = settings.admission()
  const guarded = { set: { ...set, guardrails }, admission, expectations: [], now: Date.now() }
  const errors = guardrailProblems(guarded)
  if (errors.length === 0) return
  tell({ errors })
  const { revision } = set
  throw new Refused({ document: { ok: false, revision, errors }, outcome: 'invalid' })
}
