import { decline } from '../../operations/declined.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { type Call, type Run, UsageError } from '../command.ts'
import type { Io } from '../io.ts'
import { reportEngine, slowNote } from '../policy/engine-cost.ts'
import { rehearse } from '../publish/dry-run.ts'
import { checkOver } from '../publish/over.ts'
import { type Publication, publishPolicy, reportPublication } from '../publish/publish.ts'
import { policyPush } from '../publish/push.ts'
import type { candidateOptions, pushSpec } from '../publish/specs.ts'
import { waitingOf } from '../publish/waiting.ts'
import { openApproved } from './approved.ts'

/** Publishes a directory, or a proposal that enough people have signed. */
export const pushAny: Run<typeof pushSpec> = async (call, io) => {
  const [name] = call.arguments
  return name !== undefined && isRevision(name)
    ? pushProposal(name, call.options, io)
    : policyPush(call, io)
}

type Options = Omit<
  Call<typeof pushSpec>['options'],
  'dry-run' | 'shadow' | keyof typeof candidateOptions
> & { readonly 'dry-run'?: boolean }

/** Publishes exactly what was proposed. `promotion`: what makes it more than an ordinary push. */
export async function pushProposal(
  name: string,
  options: Options,
  io: Io,
  promotion?: Pick<Publication, 'kind' | 'evidence'>,
): Promise<number> {
  checkOptions(options)
  const { waitSeconds, allowLost, replicas } = waitingOf(options)
  const settings = policySettings(options.config, io)
  const { admission } = settings.admission()
  const trust = settings.trust()
  return withPolicyStore(settings, async (store) => {
    const { open, approved } = await openApproved(name, { store, settings, io })
    const { document, set, proposal, statement } = open
    const engine = reportEngine(set, io)
    io.err(slowNote(engine))
    const publication = {
      ...{ files: document.files, set, engine, admission, yes: options.yes, waitSeconds, replicas },
      ...{ author: statement.author, message: statement.message, kind: proposal.about.kind },
      over: { option: options.over },
      replay: options.replay,
      signing: { trust, signer: undefined },
      approved,
      ...promotion,
    }
    const { output } = options
    if (options['dry-run']) return rehearse(publication, { output, allowLost }, { store, io })
    const report = await publishPolicy(publication, { store, io })
    if (report === undefined) return decline('not published')
    await store.proposals.drop(set.revision)
    return reportPublication(report, { output, allowLost }, io)
  })
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
