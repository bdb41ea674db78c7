import type { PlacedDiff } from '../../answers/placed-diff.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import {
  type ReviewedProposal,
  reviewProposal,
} from '../../stores/policies/proposals/review-proposal.ts'
import { decline } from '../declined.ts'
import { comparedNote, type OpenProposal, openProposal, readCompared } from './open-proposal.ts'
import { nextStep, staleReason } from './proposal-state.ts'
import { compareWith, type ReviewParts } from './review.ts'
import { type Signer, signatureRemark } from './signing.ts'

/** A person's own copy of the policy that a proposal follows. */
interface OwnCopy {
  readonly name: string
  readonly read: () => Promise<PolicySet>
}

/** A proposal that a person has read, and the key that they would sign it with. */
interface ReviewedApproval {
  readonly open: OpenProposal
  readonly signer: Signer
  readonly diff: PlacedDiff | undefined
}

/** Verifies a proposal and compares it. Declines one that is stale, or that this key has signed already. */
export async function reviewApproval(
  name: string,
  { signer, copy }: { readonly signer: Signer; readonly copy: OwnCopy | undefined },
  parts: ReviewParts,
): Promise<ReviewedApproval> {
  const { store, trust, tell } = parts
  const open = await openProposal(name, parts)
  const { revision, signatures } = open.proposal
  tell({ proposal: open })
  tell(signatureRemark(open.live, signer))
  if (open.state === 'stale') return decline(`refused: ${staleReason(open)}`)
  const hasSigned =
    trust === undefined ? signatures.has(signer.fingerprint) : open.signers.includes(signer.name)
  if (hasSigned) {
    return decline(`refused: ${signer.name} has signed ${revision} already: another key must sign`)
  }
  const before = await trustedBase(open, copy, { store, tell })
  return { open, signer, diff: compareWith(before, open.set, parts) }
}

/**
 * What to compare a proposal with. Declines one that follows a statement without enough trusted signatures, unless the person
 * has a copy of it: a comparison with what someone planted in Redis would hide what changes.
 */
async function trustedBase(
  open: OpenProposal,
  copy: OwnCopy | undefined,
  { store, tell }: Pick<ReviewParts, 'store' | 'tell'>,
): Promise<PolicySet | string> {
  const compared = await readCompared(open, store)
  const { revision } = open.proposal
  const { after } = open.statement
  if (copy === undefined || after === null) {
    if (compared.problem === undefined) {
      tell({ note: comparedNote(compared, open) })
      return compared.before
    }
    return decline(
      `refused: ${revision} cannot be compared: ${compared.problem}; if you have the files of ${after?.revision}, name their directory with --base DIR`,
    )
  }
  const set = await copy.read()
  if (set.revision !== after.revision) {
    return decline(
      `refused: ${copy.name} is ${set.revision}, but ${revision} follows ${after.revision}`,
    )
  }
  tell({ note: `compared with ${copy.name}, your copy of ${set.revision}` })
  return set
}

/** Signs what was reviewed. Declines a proposal that was replaced or removed since. */
export async function commitApproval(
  { open, signer }: ReviewedApproval,
  { store, trust }: Pick<ReviewParts, 'store' | 'trust'>,
): Promise<ReviewedProposal> {
  const { proposal, live } = open
  const { fingerprint } = signer
  const signature = await signer.sign(proposal.statement)
  const result = await store.proposals.sign(proposal, { fingerprint, signature })
  if (result !== 'done') return decline(refusals[result](proposal.revision))
  // Not read again, because someone may have published it already.
  const signatures = new Map(proposal.signatures).set(fingerprint, signature)
  return reviewProposal({ ...proposal, signatures }, { live, trust, now: Date.now() }) ?? open
}

const refusals = {
  missing: (revision: string) =>
    `refused: the proposal of ${revision} was published or dropped while you read it`,
  changed: (revision: string) =>
    `refused: ${revision} was proposed again while you read it: review the new proposal`,
} as const

/** Reads a proposal to publish. Declines one that is stale, or that too few trusted keys have signed. */
export async function openApproved(name: string, parts: ReviewParts): Promise<OpenProposal> {
  const open = await openProposal(name, parts)
  parts.tell({ proposal: open })
  return open.state === 'approved' ? open : decline(`refused: ${nextStep(open)}`)
}
