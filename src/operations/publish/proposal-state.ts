import { count } from '../../kernel/count.ts'
import type { ReviewedProposal } from '../../stores/policies/proposals/review-proposal.ts'

export type { ReviewedProposal }

/** What it replaces: as the signed statement says, or without `policy.trust` also the head. */
export function predecessorOf({ statement, proposal, needed }: ReviewedProposal): string {
  const over = needed > 0 ? null : proposal.about.over
  return statement.after?.revision ?? over ?? 'nothing'
}

/** What can be done next, or why nothing can. */
export function nextStep(reviewed: ReviewedProposal): string {
  const { state, proposal, signers, needed } = reviewed
  const { revision } = proposal
  switch (state) {
    case 'stale':
      return staleReason(reviewed)
    case 'approved':
      return `publish it with "postern policy push ${revision}"`
    case 'open':
      return `${revision} needs ${count(needed - signers.length, 'more signature')}: others run "postern policy approve ${revision} --key FILE"`
  }
}

/** Why a proposal cannot be signed or published any more. */
export function staleReason(reviewed: ReviewedProposal): string {
  const { revision } = reviewed.proposal
  return `${revision} was proposed over ${predecessorOf(reviewed)}, but another policy was published since: compare with that and propose it again`
}

/** A proposal as documents have it. */
export function proposalDocument({ proposal, statement, ...reviewed }: ReviewedProposal) {
  const { revision, about } = proposal
  const { author, message, at } = statement
  const { state, signers, needed, otherSignatures } = reviewed
  return { revision, state, author, message, at, ...about, signers, needed, otherSignatures }
}
