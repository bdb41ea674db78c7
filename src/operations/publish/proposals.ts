import type { PolicyStore } from '../../stores/policies/policy-store.ts'
import type { ReviewedProposal } from '../../stores/policies/proposals/review-proposal.ts'
import type { RunOf } from '../operation.ts'
import { diffDocument } from '../policy/compare-access.ts'
import { policySettings, unavailable, withPolicyStore } from '../policy-settings.ts'
import type { policyProposalDrop, policyProposals } from './descriptions.ts'
import { comparedNote, listProposals, openProposal, readCompared } from './open-proposal.ts'
import { nextStep, proposalDocument } from './proposal-state.ts'
import { checkRevision } from './publishing.ts'
import { compareWith, type Remark, type ReviewIo, reviewParts } from './review.ts'

/** What only texts show. */
export type ProposalsExtras =
  | { readonly list: readonly ReviewedProposal[] }
  | { readonly one: ReviewedProposal; readonly remarks: readonly Remark[]; readonly next: string }

/** Lists the open proposals, or shows one. */
export const run: RunOf<typeof policyProposals, ProposalsExtras> = ({ revision }, context) => {
  const settings = policySettings(context.configFile, context)
  const trust = settings.trust()
  return withPolicyStore(settings, async (store) => {
    if (revision !== undefined) return show(revision, store, { settings, context })
    const { proposals, damaged } = await listProposals({ store, trust })
    const note = 'some proposals are damaged or were altered in Redis, and are not listed'
    return {
      document: proposals.map(proposalDocument),
      ...{ shown: { list: proposals }, notes: damaged > 0 ? [note] : [] },
    }
  })
}

async function show(
  name: string,
  store: PolicyStore,
  about: Omit<ReviewIo, 'tell'>,
): ReturnType<typeof run> {
  checkRevision(name)
  const remarks: Remark[] = []
  const parts = reviewParts(store, { ...about, tell: (remark) => remarks.push(remark) })
  const open = await openProposal(name, parts)
  const compared = await readCompared(open, store)
  const { before, base, problem } = compared
  parts.tell({ note: comparedNote(compared, open) })
  const diff = problem === undefined ? compareWith(before, open.set, parts) : undefined
  return {
    document: {
      ...{ ...proposalDocument(open), statement: open.proposal.statement },
      ...{ signatures: open.signatures, base: base?.signed ?? null },
      diff: diff && diffDocument(diff),
    },
    shown: { one: open, remarks, next: nextStep(open) },
  }
}

/** Drops also what cannot be read: it may be damaged. */
export const drop: RunOf<typeof policyProposalDrop> = ({ drop: name = '' }, context) => {
  const settings = policySettings(context.configFile, context)
  settings.trust()
  return withPolicyStore(settings, async ({ proposals }) => {
    checkRevision(name)
    const [only, ...others] = await proposals.matching(name)
    const dropped = others.length === 0 ? (only?.revision ?? name) : name
    if (await proposals.drop(dropped)) return { document: { dropped } }
    return unavailable(`proposal ${name} does not exist: "postern policy proposals" lists all`)
  })
}
