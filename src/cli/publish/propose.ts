import { diffDocument } from '../../operations/policy/diff-document.ts'
import { readPublished } from '../../operations/policy/versions.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { readOver, writeProposed } from '../../operations/publish/base.ts'
import {
  nextStep,
  predecessorOf,
  proposalDocument,
} from '../../operations/publish/proposal-state.ts'
import { commitProposing, reviewProposing } from '../../operations/publish/propose.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { replayOf } from '../../stores/policies/proposals/proposal.ts'
import { type Run, UsageError } from '../command.ts'
import { showReplay } from '../evidence/replay/replay.ts'
import { exitCodes } from '../exit-codes.ts'
import { jsonPieces, printable } from '../format.ts'
import { proposeSpec } from './approval-specs.ts'
import { readNamed } from './candidate.ts'
import { checkOver } from './publish.ts'
import { reviewParts } from './review-parts.ts'
import { authorOf } from './signer.ts'

/** Stores a policy for others to review and sign, with what the checks say about it. */
export const policyPropose: Run<typeof proposeSpec> = async (
  { options, arguments: [named] },
  io,
) => {
  const message = options.message.trim()
  if (message === '') {
    throw new UsageError(`-m is required: ${proposeSpec.options.message.required}`)
  }
  checkOver(options.over)
  const settings = policySettings(options.config, io)
  const { author, signer } = await authorOf(options, settings.trust(), io)
  const name = named ?? settings.directory
  const read = (revision: string) =>
    withPolicyStore(settings, (store) => readPublished(revision, { store, settings, io }))
  const candidate = await readNamed(name, options, read, { settings, io })
  if (typeof candidate === 'number') return candidate
  const { set, tests, warnings, place } = candidate
  const [kind, over] = isRevision(name)
    ? (['rollback', { option: options.over }] as const)
    : (['push', await readOver(options.over, name, place)] as const)
  const { replay: log } = options
  const evidence = {
    warnings: warnings.length,
    ...(tests && { tests: { passed: tests.outcomes.length, coverage: tests.coverage.percent } }),
    ...(log !== undefined && { replay: replayOf(await showReplay(log, set, io)) }),
  }

  return withPolicyStore(settings, async (store) => {
    const parts = reviewParts(store, settings, io)
    const proposing = { ...candidate, kind, over, evidence, author, message, signer }
    const review = await reviewProposing(proposing, parts)
    const stored = await commitProposing(review, parts)
    const { revision } = stored.proposal
    if (place !== undefined) await writeProposed(place, revision)
    if (options.output === 'json') {
      const diff = review.diff && diffDocument(review.diff)
      for (const piece of jsonPieces({ ...proposalDocument(stored), diff })) io.out(piece)
      return exitCodes.done
    }
    const by = signer === undefined ? '' : `, signed by ${signer.name}`
    io.out(printable(`proposed ${revision} over ${predecessorOf(stored)}${by}`).concat('\n'))
    io.err(`${nextStep(stored)}\n`)
    return exitCodes.done
  })
}
