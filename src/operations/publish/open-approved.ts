import { decline } from '../declined.ts'
import { type OpenProposal, openProposal } from './open-proposal.ts'
import { nextStep } from './proposal-state.ts'
import type { ReviewParts } from './review.ts'

/** Reads a proposal to publish. Declines one that is stale, or that too few trusted keys have signed. */
export async function openApproved(name: string, parts: ReviewParts): Promise<OpenProposal> {
  const open = await openProposal(name, parts)
  parts.tell({ proposal: open })
  return open.state === 'approved' ? open : decline(`refused: ${nextStep(open)}`)
}
