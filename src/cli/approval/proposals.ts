import { policySettings, unavailable, withPolicyStore } from '../../operations/policy-settings.ts'
import type { Trust } from '../../signing/trust.ts'
import type { PolicyStore } from '../../stores/policies/policy-store.ts'
import { readLiveState } from '../../stores/policies/proposals/live-state.ts'
import { reviewProposal } from '../../stores/policies/proposals/review-proposal.ts'
import { type Run, UsageError } from '../command.ts'
import { formatTable, json, jsonPieces } from '../format.ts'
import type { Io } from '../io.ts'
import { diffAsJson } from '../policy/diff-json.ts'
import { compareWithLive } from '../publish/live.ts'
import { checkRevision, formatCompared, openProposal, readCompared } from './open-proposal.ts'
import { formatProposal, nextStep, proposalAsJson, signaturesOf } from './proposal-in-words.ts'
import type { proposalsSpec } from './specs.ts'

/** Lists the open proposals, shows one, or drops one. */
export const policyProposals: Run<typeof proposalsSpec> = async (call, io) => {
  const {
    options: { drop, output, config },
    arguments: [named],
  } = call
  if (drop !== undefined && named !== undefined) {
    throw new UsageError('--drop names the proposal: leave out REVISION')
  }
  const settings = policySettings(config, io)
  const trust = settings.trust()
  return withPolicyStore(settings, async (store) => {
    if (drop !== undefined) return dropProposal(drop, { store, io, output })
    if (named === undefined) return listProposals({ store, io, output, trust })
    const open = await openProposal(named, { store, settings, io })
    const { admission } = settings.admission()
    if (output === 'text') io.out(formatProposal(open))
    const compared = await readCompared(open, store)
    const { before, base, problem } = compared
    io.err(formatCompared(compared, open))
    const diff =
      problem === undefined ? compareWithLive({ set: open.set, admission }, before, io) : undefined
    if (output === 'text') io.err(`${nextStep(open)}\n`)
    else {
      const { statement } = open.proposal
      const document = {
        ...{ ...proposalAsJson(open), statement, signatures: open.signatures },
        ...{ base: base?.signed ?? null, diff: diff && diffAsJson(diff) },
      }
      for (const piece of jsonPieces(document)) io.out(piece)
    }
    return 0
  })
}

interface Parts {
  readonly store: PolicyStore
  readonly io: Io
  readonly output: 'text' | 'json'
}

/** Drops also what cannot be read: it may be damaged. */
async function dropProposal(name: string, { store, io, output }: Parts): Promise<number> {
  checkRevision(name)
  const [only, ...others] = await store.proposals.matching(name)
  const revision = others.length === 0 ? (only?.revision ?? name) : name
  if (!(await store.proposals.drop(revision))) {
    return unavailable(`proposal ${name} does not exist: "postern policy proposals" lists all`)
  }
  io.out(output === 'json' ? json({ dropped: revision }) : `dropped the proposal of ${revision}\n`)
  return 0
}

async function listProposals({
  store,
  io,
  output,
  trust,
}: Parts & { readonly trust: Trust | undefined }): Promise<number> {
  const now = Date.now()
  const live = await readLiveState(store, { trust, now })
  const found = await store.proposals.list()
  const reviewed = found.flatMap((proposal) => reviewProposal(proposal, { live, trust, now }) ?? [])
  if (output === 'json') {
    io.out(json(reviewed.map(proposalAsJson)))
    return 0
  }
  if (found.length > reviewed.length) {
    io.err('note: some proposals are damaged or were altered in Redis, and are not listed\n')
  }
  if (reviewed.length === 0) io.err('no proposals are open\n')
  const rows = reviewed.map((each) => {
    const { author, at, message } = each.statement
    return [each.proposal.revision, at, each.state, signaturesOf(each), author, message]
  })
  const titles = ['REVISION', 'PROPOSED', 'STATE', 'SIGNATURES', 'AUTHOR', 'WHY']
  if (rows.length > 0) io.out(formatTable([titles, ...rows]))
  return 0
}
