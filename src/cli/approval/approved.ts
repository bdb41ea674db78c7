import { decline } from '../../operations/declined.ts'
import { reviewProposal } from '../../stores/policies/proposals/review-proposal.ts'
import type { Approved } from '../publish/signing.ts'
import { type OpenProposal, openProposal, type ProposalParts } from './open-proposal.ts'
import { formatProposal, nextStep, staleReason } from './proposal-in-words.ts'

/**
 * Reads a proposal that may be published, and shows it. Declines one that is stale, or that fewer
 * trusted keys have signed than `policy.trust` requires.
 */
export async function openApproved(
  name: string,
  { store, settings, io }: ProposalParts,
): Promise<{ readonly open: OpenProposal; readonly approved: Approved }> {
  const trust = settings.trust()
  const open = await openProposal(name, { store, settings, io })
  io.err(formatProposal(open))
  if (open.state !== 'approved') return decline(`refused: ${nextStep(open)}`)
  const { document, signers, signatures, proposal } = open
  const approved: Approved = {
    document,
    signers,
    // Only without `policy.trust` can a proposal be unsigned; gateways that have it reject it.
    signed: signatures.length === 0 ? undefined : { statement: proposal.statement, signatures },
    // Someone else may publish while a person reads the diff.
    whyStale: (live) => {
      const again = reviewProposal(proposal, { live, trust, now: Date.now() })
      return again?.state === 'stale' ? `refused: ${staleReason(again)}` : undefined
    },
  }
  return { open, approved }
}
