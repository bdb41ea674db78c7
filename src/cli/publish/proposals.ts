import { diffDocument } from '../../operations/policy/diff-document.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import {
  comparedNote,
  dropProposal,
  listProposals,
  openProposal,
  readCompared,
} from '../../operations/publish/open-proposal.ts'
import { nextStep, proposalDocument } from '../../operations/publish/proposal-state.ts'
import { compareWith } from '../../operations/publish/review.ts'
import type { ReviewedProposal } from '../../stores/policies/proposals/review-proposal.ts'
import { type Run, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { formatTable, json, jsonPieces } from '../format.ts'
import type { Io } from '../io.ts'
import type { proposalsSpec } from './approval-specs.ts'
import { formatProposal, signaturesOf } from './proposal-in-words.ts'
import { checkRevision } from './publish.ts'
import { reviewParts } from './review-parts.ts'

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
    if (drop !== undefined) {
      checkRevision(drop)
      const dropped = await dropProposal(drop, store)
      io.out(output === 'json' ? json({ dropped }) : `dropped the proposal of ${dropped}\n`)
    } else if (named === undefined) {
      const { proposals, damaged } = await listProposals({ store, trust })
      if (output === 'json') io.out(json(proposals.map(proposalDocument)))
      else print(proposals, damaged, io)
    } else await show(named, output, reviewParts(store, settings, io), io)
    return exitCodes.done
  })
}

async function show(
  name: string,
  output: 'text' | 'json',
  parts: ReturnType<typeof reviewParts>,
  io: Io,
): Promise<void> {
  checkRevision(name)
  const open = await openProposal(name, parts)
  if (output === 'text') io.out(formatProposal(open))
  const compared = await readCompared(open, parts.store)
  const { before, base, problem } = compared
  parts.tell({ note: comparedNote(compared, open) })
  const diff = problem === undefined ? compareWith(before, open.set, parts) : undefined
  if (output === 'text') {
    io.err(`${nextStep(open)}\n`)
    return
  }
  const document = {
    ...{ ...proposalDocument(open), statement: open.proposal.statement },
    ...{ signatures: open.signatures, base: base?.signed ?? null },
    diff: diff && diffDocument(diff),
  }
  for (const piece of jsonPieces(document)) io.out(piece)
}

function print(proposals: readonly ReviewedProposal[], damaged: number, io: Io): void {
  if (damaged > 0) {
    io.err('note: some proposals are damaged or were altered in Redis, and are not listed\n')
  }
  if (proposals.length === 0) io.err('no proposals are open\n')
  const rows = proposals.map((each) => {
    const { author, at, message } = each.statement
    return [each.proposal.revision, at, each.state, signaturesOf(each), author, message]
  })
  const titles = ['REVISION', 'PROPOSED', 'STATE', 'SIGNATURES', 'AUTHOR', 'WHY']
  if (rows.length > 0) io.out(formatTable([titles, ...rows]))
}
