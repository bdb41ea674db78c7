import { isRevision } from '../../stores/policies/document/policy-document.ts'
import type { LiveState } from '../../stores/policies/proposals/live-state.ts'
import { reviewProposal } from '../../stores/policies/proposals/review-proposal.ts'
import { type Call, type Run, UsageError } from '../command.ts'
import { decline } from '../declined.ts'
import type { Io } from '../io.ts'
import { reportEngine, slowNote } from '../policy/engine-cost.ts'
import { rehearse } from '../publish/dry-run.ts'
import { checkOver } from '../publish/over.ts'
import { publishPolicy, reportPublication } from '../publish/publish.ts'
import { policyPush } from '../publish/push.ts'
import type { pushSpec } from '../publish/specs.ts'
import { waitingOf } from '../publish/waiting.ts'
import { policySettings, withPolicyStore } from '../settings.ts'
import { type OpenProposal, openProposal } from './open-proposal.ts'
import { formatProposal, nextStep, staleReason } from './proposal-in-words.ts'

/** Publishes a directory, or a proposal that enough people have signed. */
export const pushAny: Run<typeof pushSpec> = async (call, io) => {
  const [name] = call.arguments
  return name !== undefined && isRevision(name)
    ? pushProposal(name, call.options, io)
    : policyPush(call, io)
}

type Options = Call<typeof pushSpec>['options']

async function pushProposal(name: string, options: Options, io: Io): Promise<number> {
  checkOptions(options)
  const { waitSeconds, allowLost, replicas } = waitingOf(options)
  const settings = policySettings(options.config, io)
  const { admission } = settings.admission()
  const trust = settings.trust()
  return withPolicyStore(settings, async (store) => {
    const open = await openProposal(name, { store, trust })
    io.err(formatProposal(open))
    if (open.state !== 'approved') return decline(`refused: ${nextStep(open)}`)
    const { document, set, proposal, statement } = open
    const engine = reportEngine(set, io)
    io.err(slowNote(engine))
    const publication = {
      ...{ files: document.files, set, engine, admission, yes: options.yes, waitSeconds, replicas },
      ...{ author: statement.author, message: statement.message, kind: proposal.about.kind },
      over: { option: options.over },
      replay: options.replay,
      signing: { trust, signer: undefined },
      approved: {
        document,
        signed: signedOf(open),
        signers: open.signers,
        whyStale: (live: LiveState) => {
          const again = reviewProposal(proposal, live, trust)
          return again?.state === 'stale' ? `refused: ${staleReason(again)}` : undefined
        },
      },
    }
    const { output } = options
    if (options['dry-run']) return rehearse(publication, { output, allowLost }, { store, io })
    const report = await publishPolicy(publication, { store, io })
    if (report === undefined) return decline('not published')
    await store.proposals.drop(set.revision)
    return reportPublication(report, { output, allowLost }, io)
  })
}

/** Unsigned proposals exist only without `policy.trust`; gateways that have it would reject them. */
function signedOf({ proposal, signatures }: OpenProposal) {
  return signatures.length === 0 ? undefined : { statement: proposal.statement, signatures }
}

/** The proposal has an author, a reason and signatures: others would not be what was approved. */
function checkOptions(options: Options): void {
  checkOver(options.over)
  for (const name of ['message', 'author', 'key'] as const) {
    if (options[name] === undefined) continue
    const shown = name === 'message' ? '-m' : `--${name}`
    throw new UsageError(`${shown} is for a directory: a proposal is published as it was approved`)
  }
}
