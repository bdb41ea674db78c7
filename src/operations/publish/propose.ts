import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { createDocument } from '../../stores/policies/policy-store.ts'
import {
  activeHead,
  type LiveState,
  readLiveState,
} from '../../stores/policies/proposals/live-state.ts'
import { replayOf } from '../../stores/policies/proposals/proposal.ts'
import type { ProposalAbout } from '../../stores/policies/proposals/proposals.ts'
import {
  type ReviewedProposal,
  reviewProposal,
} from '../../stores/policies/proposals/review-proposal.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { ReviewOf } from '../operation.ts'
import { diffDocument } from '../policy/compare-access.ts'
import { readPublished } from '../policy/versions.ts'
import { withPolicyStore } from '../policy-settings.ts'
import { authorOf } from './author.ts'
import { readOver, writeProposed } from './base.ts'
import { readNamed } from './candidate.ts'
import type { policyPropose } from './descriptions.ts'
import { overProblem } from './over.ts'
import { nextStep, predecessorOf, proposalDocument } from './proposal-state.ts'
import type { Publication } from './publication.ts'
import { checkOver, tellReplay } from './publishing.ts'
import { compareWith, type ReviewParts, readLive, reviewParts, withRemarks } from './review.ts'
import { liveStatement, signatureNote } from './signing.ts'

/** What only texts show of a proposal. */
export interface ProposalExtras {
  readonly over: string
  /** The name of the key that signed it. */
  readonly signer: string | undefined
  readonly next: string
}

/** Checks, tests and compares a policy. The commit stores it for others to review and sign. */
export const review: ReviewOf<typeof policyPropose, ProposalExtras> = (input, caller) =>
  withRemarks(caller, async (reviewing) => {
    const message = input.message.trim()
    if (message === '') {
      throw new InvalidInput(undefined, '-m is required: give the reason for this change')
    }
    checkOver(input.over)
    const { settings, context } = reviewing
    const { author, signer } = await authorOf(input, reviewing)
    const name = input.dir ?? settings.directory
    const read = () =>
      withPolicyStore(settings, (store) => readPublished(name, { store, settings, io: context }))
    const candidate = await readNamed(name, input, read, reviewing)
    const { set, tests, warnings, place } = candidate
    const [kind, over] = isRevision(name)
      ? (['rollback', { option: input.over }] as const)
      : (['push', await readOver(input.over, name, place)] as const)
    const { replay: log } = input
    const evidence = {
      warnings: warnings.length,
      ...(tests && { tests: { passed: tests.outcomes.length, coverage: tests.coverage.percent } }),
      ...(log !== undefined && { replay: replayOf(await tellReplay(log, set, reviewing)) }),
    }
    const proposing = { ...candidate, kind, over, evidence, author, message, signer }
    const review = await withPolicyStore(settings, (store) =>
      reviewProposing(proposing, reviewParts(store, reviewing)),
    )
    return {
      document: {},
      isSure: true,
      commit: () =>
        withPolicyStore(settings, async (store) => {
          const stored = await commitProposing(review, { store, trust: settings.trust() })
          const { revision } = stored.proposal
          if (place !== undefined) await writeProposed(place, revision)
          const diff = review.diff && diffDocument(review.diff)
          return {
            document: { ...proposalDocument(stored), diff },
            shown: { over: predecessorOf(stored), signer: signer?.name, next: nextStep(stored) },
          }
        }),
    }
  })

/** What to propose, by whom and why. */
type Proposing = Pick<Publication, 'files' | 'set' | 'over' | 'author' | 'message' | 'signer'> &
  Pick<ProposalAbout, 'kind' | 'evidence'>

/** Compares what is proposed with the live policy. Declines what must not replace that. */
async function reviewProposing(proposing: Proposing, parts: ReviewParts) {
  const { set, over, signer } = proposing
  const { store, trust, recorded, tell } = parts
  const { revision } = set
  const signed = await recorded()
  const live = await readLiveState(store, { trust, now: Date.now(), recorded: signed })
  if (live.head?.revision === revision && trust === undefined) {
    return decline(`${revision} is already live: nothing to propose`)
  }
  tell({ note: signatureNote(live, signer) })
  const diff = compareWith(await readLive(live.revision, store), set, parts)
  const reason = await overProblem(activeHead(live), { revision, over, isAsked: true }, store)
  return reason === undefined ? { proposing, live, diff } : decline(reason)
}

/** Stores what was reviewed for others to sign. Declines if another proposal of it is open. */
async function commitProposing(
  { proposing, live }: Awaited<ReturnType<typeof reviewProposing>>,
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
