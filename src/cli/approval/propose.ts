import { decline } from '../../operations/declined.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import type { Trust } from '../../signing/trust.ts'
import { createDocument, type PolicyStore } from '../../stores/policies/policy-store.ts'
import {
  activeHead,
  type LiveState,
  readLiveState,
} from '../../stores/policies/proposals/live-state.ts'
import { reviewProposal } from '../../stores/policies/proposals/review-proposal.ts'
import { type Run, UsageError } from '../command.ts'
import { jsonPieces, printable } from '../format.ts'
import { diffAsJson } from '../policy/diff-json.ts'
import { writeProposed } from '../publish/base.ts'
import { compareWithLive, readLive } from '../publish/live.ts'
import { checkOver, whyNotOver } from '../publish/over.ts'
import { authorOf } from '../publish/push.ts'
import { signedHistory } from '../publish/recorded-moves.ts'
import { liveStatement, openSigner, type Signer, signatureNote } from '../publish/signing.ts'
import type { ProposalParts } from './open-proposal.ts'
import { nextStep, predecessorOf, proposalAsJson } from './proposal-in-words.ts'
import { type Proposed, readProposedPolicy } from './proposed-policy.ts'
import { proposeSpec } from './specs.ts'

/** Stores a policy for others to review and sign, with what the checks say about it. */
export const policyPropose: Run<typeof proposeSpec> = async (call, io) => {
  const { options } = call
  const { output } = options
  const message = options.message.trim()
  if (message === '') {
    throw new UsageError(`-m is required: ${proposeSpec.options.message.required}`)
  }
  checkOver(options.over)
  const settings = policySettings(options.config, io)
  const trust = settings.trust()
  const signer = options.key === undefined ? undefined : await openSigner(options.key, trust, io)
  const author = authorOf(options.author, signer, io)
  const proposed = await readProposedPolicy(call, settings, io)
  if (typeof proposed === 'number') return proposed
  return withPolicyStore(settings, (store) =>
    propose({ ...proposed, author, message, signer, trust, output }, { store, settings, io }),
  )
}

interface Proposing extends Proposed {
  readonly author: string
  readonly message: string
  readonly signer: Signer | undefined
  readonly trust: Trust | undefined
  readonly output: 'text' | 'json'
}

async function propose(
  proposing: Proposing,
  { store, settings, io }: ProposalParts,
): Promise<number> {
  const { files, set, kind, evidence, author, message, signer, trust } = proposing
  const { revision } = set
  const recorded = await signedHistory(settings, io)
  const live = await readLiveState(store, { trust, now: Date.now(), recorded })
  if (live.head?.revision === revision && trust === undefined) {
    return decline(`${revision} is already live: nothing to propose`)
  }
  io.err(signatureNote(live, { signing: { trust, signer } }))
  const diff = compareWithLive(proposing, await readLive(live.revision, store), io)
  const candidate = { revision, over: proposing.over, isAsked: true }
  const reason = await whyNotOver(activeHead(live), candidate, store)
  if (reason !== undefined) return decline(reason)

  const replaces = await replaceable(revision, { store, live, trust })
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

  if (proposing.place !== undefined) await writeProposed(proposing.place, revision)
  const stored = reviewProposal(proposal, { live, trust, now: Date.now() })
  if (stored === undefined) throw new Error('proposed an invalid statement')
  if (proposing.output === 'json') {
    const report = { ...proposalAsJson(stored), diff: diff && diffAsJson(diff) }
    for (const piece of jsonPieces(report)) io.out(piece)
    return 0
  }
  const by = signer === undefined ? '' : `, signed by ${signer.name}`
  io.out(printable(`proposed ${revision} over ${predecessorOf(stored)}${by}`).concat('\n'))
  io.err(`${nextStep(stored)}\n`)
  return 0
}

/** The statement of an earlier proposal that this one may replace. Declines one that people work on. */
async function replaceable(
  revision: string,
  {
    store,
    live,
    trust,
  }: {
    readonly store: PolicyStore
    readonly live: LiveState
    readonly trust: Trust | undefined
  },
): Promise<string | undefined> {
  const present = await store.proposals.read(revision)
  const reviewed = present && reviewProposal(present, { live, trust, now: Date.now() })
  if (reviewed === undefined || reviewed.state === 'stale') return present?.statement
  const { author, at } = reviewed.statement
  return decline(
    `refused: ${author} proposed ${revision} already at ${at}: approve that, or drop it with "postern policy proposals --drop ${revision}"`,
  )
}
