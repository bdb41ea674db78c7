import type { PlacedDiff } from '../../answers/placed-diff.ts'
import type { PolicyFile, PolicySet } from '../../policy/set/policy-set.ts'
import { createDocument } from '../../stores/policies/policy-store.ts'
import {
  activeHead,
  type LiveState,
  readLiveState,
} from '../../stores/policies/proposals/live-state.ts'
import type { ProposalAbout, ProposalEvidence } from '../../stores/policies/proposals/proposals.ts'
import {
  type ReviewedProposal,
  reviewProposal,
} from '../../stores/policies/proposals/review-proposal.ts'
import { decline } from '../declined.ts'
import { type Over, whyNotOver } from './over.ts'
import { compareWith, type ReviewParts, readLive } from './review.ts'
import { liveStatement, type Signer, signatureRemark } from './signing.ts'

/** What to propose, by whom and why. */
interface Proposing {
  readonly files: readonly PolicyFile[]
  readonly set: PolicySet
  readonly kind: ProposalAbout['kind']
  readonly evidence: ProposalEvidence
  readonly over: Over
  readonly author: string
  readonly message: string
  readonly signer: Signer | undefined
}

interface ReviewedProposing {
  readonly proposing: Proposing
  readonly live: LiveState
  readonly diff: PlacedDiff | undefined
}

/** Compares what is proposed with the live policy. Declines what must not replace that. */
export async function reviewProposing(
  proposing: Proposing,
  parts: ReviewParts,
): Promise<ReviewedProposing> {
  const { set, over, signer } = proposing
  const { store, trust, recorded, tell } = parts
  const { revision } = set
  const signed = await recorded()
  const live = await readLiveState(store, { trust, now: Date.now(), recorded: signed })
  if (live.head?.revision === revision && trust === undefined) {
    return decline(`${revision} is already live: nothing to propose`)
  }
  tell(signatureRemark(live, signer))
  const diff = compareWith(await readLive(live.revision, store), set, parts)
  const reason = await whyNotOver(activeHead(live), { revision, over, isAsked: true }, store)
  return reason === undefined ? { proposing, live, diff } : decline(reason)
}

/** Stores what was reviewed for others to sign. Declines if another proposal of it is open. */
export async function commitProposing(
  { proposing, live }: ReviewedProposing,
  { store, trust }: Pick<ReviewParts, 'store' | 'trust'>,
): Promise<ReviewedProposal> {
  const { files, set, kind, evidence, author, message, signer } = proposing
  const { revision } = set
  const replaces = await replaceable(revision, live, { store, trust })
  const parent = live.revision
  const document = createDocument(files, { author, message, parent, now: new Date() })
  const statement = liveStatement(document, live.after)
  const signatures = new Map<string, string>()
  if (signer !== undefined) signatures.set(signer.fingerprint, await signer.sign(statement))
  const about = { kind, over: live.head?.revision ?? null, evidence }
  const proposal = { revision, statement, signatures, about }
  const result = await store.proposals.propose(proposal, { document, replaces })
  if (result === 'changed') return decline(`refused: someone else proposed ${revision} meanwhile`)
  if (result === 'full') {
    return decline(
      'refused: 100 proposals are open: drop those that are not needed with "postern policy proposals --drop REVISION"',
    )
  }
  const stored = reviewProposal(proposal, { live, trust, now: Date.now() })
  if (stored === undefined) throw new Error('proposed an invalid statement')
  return stored
}

/** The statement of an earlier proposal that this one may replace. Declines one that people work on. */
async function replaceable(
  revision: string,
  live: LiveState,
  { store, trust }: Pick<ReviewParts, 'store' | 'trust'>,
): Promise<string | undefined> {
  const present = await store.proposals.read(revision)
  const reviewed = present && reviewProposal(present, { live, trust, now: Date.now() })
  if (reviewed === undefined || reviewed.state === 'stale') return present?.statement
  const { author, at } = reviewed.statement
  return decline(
    `refused: ${author} proposed ${revision} already at ${at}: approve that, or drop it with "postern policy proposals --drop ${revision}"`,
  )
}
