import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Verified } from '../../signing/trust.ts'
import {
  type PolicyDocument,
  type PolicyStore,
  policyOf,
} from '../../stores/policies/policy-store.ts'
import { type LiveState, readLiveState } from '../../stores/policies/proposals/live-state.ts'
import type { Proposal } from '../../stores/policies/proposals/proposals.ts'
import {
  type ReviewedProposal,
  reviewProposal,
} from '../../stores/policies/proposals/review-proposal.ts'
import { decline } from '../declined.ts'
import { unavailable } from '../policy-settings.ts'
import { type ReviewParts, readLive, readStored } from './review.ts'

/** A proposal that was read and verified, and the live policy that it would replace. */
export interface OpenProposal extends ReviewedProposal {
  readonly document: PolicyDocument
  readonly set: PolicySet
  readonly live: LiveState
}

/**
 * Reads a proposal. Verifies the stored document itself, because Redis may have been altered since it
 * was proposed: its checksum, its revision, and that the statement is about it. Declines one that
 * fails, and throws a Fault when it does not exist.
 */
export async function openProposal(
  name: string,
  { store, trust, recorded }: Pick<ReviewParts, 'store' | 'trust' | 'recorded'>,
): Promise<OpenProposal> {
  const proposal = await findProposal(name, store)
  const { revision } = proposal
  const now = Date.now()
  const live = await readLiveState(store, { trust, now, recorded: await recorded() })
  const reviewed = reviewProposal(proposal, { live, trust, now })
  if (reviewed === undefined) return decline(altered(revision, 'its statement is not valid'))
  const document = await store.proposals.document(revision)
  if (document === undefined) return decline(altered(revision, 'its document is missing'))
  if (reviewed.statement.document !== document.checksum) {
    return decline(altered(revision, 'its statement is about another document'))
  }
  // The history shows those of the document, and signers read those of the statement.
  const { statement } = reviewed
  if ((['author', 'message', 'at'] as const).some((name) => statement[name] !== document[name])) {
    return decline(
      altered(revision, 'its statement and its document differ in author, why or time'),
    )
  }
  return { ...reviewed, document, set: policyOf(document), live }
}

/** What a proposal is compared with. */
interface Compared {
  /** The policy that it replaces, or why there is none. */
  readonly before: PolicySet | string
  /** With `policy.trust`: who signed that policy, as the statement that the signers name. */
  readonly base?: Verified
  /** With `policy.trust`: why a comparison would not be worth a signature, if so. */
  readonly problem?: string
}

/**
 * The policy that a proposal replaces: with `policy.trust`, exactly what its signers confirm to replace, as
 * others signed it. Otherwise a client with write access to Redis could plant one that hides every difference.
 */
export async function readCompared(
  { live, statement, needed, set }: OpenProposal,
  store: PolicyStore,
): Promise<Compared> {
  if (needed === 0) return { before: await readLive(live.revision, store) }
  const { after } = statement
  if (after === null) return { before: nothingBefore(set) }
  const base = live.find(after)
  const named = `${after.revision} (serial ${after.serial})`
  if (base === undefined) {
    return unknown(
      `it follows ${named}, for which neither Redis nor the database nor a gateway has enough signatures`,
    )
  }
  const document = await readStored(after.revision, store)
  if (typeof document === 'string') return unknown(`it follows ${named}, but ${document}`)
  if (document.checksum !== base.statement.document) {
    return unknown(`it follows ${named}, but Redis has another document of that revision`)
  }
  return { before: policyOf(document), base }
}

function unknown(problem: string): Compared {
  return { before: 'not compared', problem }
}

/** The revision of the policy that gives nothing. */
export const nothing = 'nothing'

/** A policy that gives nothing: without rules, no clause of the model matches either. */
export function nothingBefore({ model }: PolicySet): PolicySet {
  return { model, rules: [], inheritances: [], exclusions: [], revision: nothing }
}

function altered(revision: string, what: string): string {
  return `refused: the proposal of ${revision} is damaged or was altered in Redis: ${what}; drop it with "postern policy proposals --drop ${revision}" and propose again`
}

/** The proposal with this revision, or with the only one that starts like this. */
async function findProposal(name: string, store: PolicyStore): Promise<Proposal> {
  const found = await store.proposals.matching(name)
  const [first] = found
  if (found.length > 1) {
    return unavailable(
      `${name} is ambiguous: ${found.length} proposals start with it; give more digits`,
    )
  }
  return (
    first ??
    unavailable(
      `proposal ${name} does not exist: "postern policy proposals" lists all; it may have been published or dropped, or be older than 30 days`,
    )
  )
}

/** `compared with r-3f2a9c81d604 (serial 1794…, signed by ann, ben)`; empty without `policy.trust`. */
export function comparedNote(
  { base, problem }: Pick<Compared, 'base' | 'problem'>,
  { statement, needed }: Pick<ReviewedProposal, 'statement' | 'needed'>,
): string {
  if (needed === 0) return ''
  if (problem !== undefined) return `not compared: ${problem}`
  if (base === undefined) {
    return statement.after === null ? 'compared with nothing: no signed policy was found' : ''
  }
  const { revision, serial } = base.statement
  return `compared with ${revision} (serial ${serial}, signed by ${base.signers.join(', ')})`
}

/** The open proposals, newest first, and how many cannot be read. */
export async function listProposals({
  store,
  trust,
}: Pick<ReviewParts, 'store' | 'trust'>): Promise<{
  readonly proposals: readonly ReviewedProposal[]
  readonly damaged: number
}> {
  const now = Date.now()
  const live = await readLiveState(store, { trust, now })
  const found = await store.proposals.list()
  const proposals = found.flatMap((each) => reviewProposal(each, { live, trust, now }) ?? [])
  return { proposals, damaged: found.length - proposals.length }
}
