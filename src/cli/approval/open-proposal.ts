import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Trust } from '../../signing/trust.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
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
import { UsageError } from '../command.ts'
import { decline } from '../declined.ts'
import { readLive } from '../publish/live.ts'
import { unavailable } from '../settings.ts'

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
  { store, trust }: { readonly store: PolicyStore; readonly trust: Trust | undefined },
): Promise<OpenProposal> {
  const proposal = await findProposal(name, store)
  const { revision } = proposal
  const now = Date.now()
  const live = await readLiveState(store, trust, now)
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

/**
 * The policy that a proposal is compared with, or why none is: the one that its signers confirm to
 * replace. A head that `policy.trust` rejects could be the proposal itself, and hide every difference.
 */
export async function readCompared(
  { live, statement, needed }: OpenProposal,
  store: PolicyStore,
): Promise<PolicySet | string> {
  if (needed === 0 || live.isAfterKnown) return readLive(live.revision, store)
  const signed = statement.after?.revision
  return signed === undefined && live.head !== undefined
    ? 'nothing that policy.trust accepts is published'
    : readLive(signed, store)
}

function altered(revision: string, what: string): string {
  return `refused: the proposal of ${revision} is damaged or was altered in Redis: ${what}; drop it with "postern policy proposals --drop ${revision}" and propose again`
}

/** The proposal with this revision, or with the only one that starts like this. */
async function findProposal(name: string, store: PolicyStore): Promise<Proposal> {
  checkRevision(name)
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

/** Throws `UsageError` when this cannot be a revision. */
export function checkRevision(name: string): void {
  if (isRevision(name)) return
  throw new UsageError(`REVISION: ${JSON.stringify(name)} is not a revision such as r-3f2a9c81d604`)
}
