import { decline } from '../../../operations/declined.ts'
import {
  type PolicySettings,
  policySettings,
  withPolicyStore,
} from '../../../operations/policy-settings.ts'
import { obstaclesTo, promotionEvidence } from '../../../policy/shadow/promotion.ts'
import type { PolicyStore } from '../../../stores/policies/policy-store.ts'
import { policyOf } from '../../../stores/policies/policy-store.ts'
import { checkRevision } from '../../approval/open-proposal.ts'
import { pushProposal } from '../../approval/push.ts'
import type { Call, Run } from '../../command.ts'
import { durationMs } from '../../duration.ts'
import { exitCodes } from '../../exit-codes.ts'
import { json, printable } from '../../format.ts'
import type { Io } from '../../io.ts'
import { reportEngine, slowNote } from '../../policy/engine-cost.ts'
import { checkOver } from '../../publish/over.ts'
import { publishPolicy, reportPublication } from '../../publish/publish.ts'
import { authorOf } from '../../publish/push.ts'
import { formatTotals } from '../../publish/shadow-totals.ts'
import { ownSigning } from '../../publish/signing.ts'
import { waitingOf } from '../../publish/waiting.ts'
import { type ObservedShadow, readShadow, refuseFiles } from './read-shadow.ts'
import { formatObstacle, formatReplicas, formatShadow } from './shadow-in-words.ts'
import type { promoteSpec } from './specs.ts'

type Options = Call<typeof promoteSpec>['options']

/** Makes the shadow live, if its evidence allows it. */
export const policyPromote: Run<typeof promoteSpec> = async (call, io) => {
  const {
    options,
    arguments: [revision],
  } = call
  checkRevision(revision)
  checkOver(options.over)
  const { allowLost } = waitingOf(options)
  const afterMs = options.after === undefined ? 0 : durationMs('--after', options.after)
  const settings = policySettings(options.config, io)
  refuseFiles(settings)
  const terms = { afterMs, maxWouldDeny: options['max-would-deny'], allowLost }

  const shadow = await withPolicyStore(settings, (store) => findShadow(revision, store))
  const { evidence } = shadow
  io.err(formatShadow(shadow) + formatTotals(evidence) + formatReplicas(evidence.replicas))
  const obstacles = obstaclesTo(evidence, terms)
  if (obstacles.length > 0) {
    const reasons = obstacles.map((each) => formatObstacle(each, terms))
    if (options.output === 'json') io.out(json({ ok: false, obstacles, evidence }))
    io.err(reasons.map((each) => printable(`postern: refused: ${each}`).concat('\n')).join(''))
    return exitCodes.no
  }
  return publish(shadow, options, { settings, io })
}

async function findShadow(name: string, store: PolicyStore): Promise<ObservedShadow> {
  const shadow = await readShadow(store)
  if (shadow === undefined) {
    return decline('refused: no shadow runs: push one with "postern policy push --shadow -m WHY"')
  }
  const { revision } = shadow.head
  if (revision.startsWith(name)) return shadow
  return decline(`refused: the shadow is ${revision}, and not ${name}`)
}

/** One person cannot sign for all: what is promoted is the proposal that others approved. */
async function requireProposal(
  revision: string,
  signatures: number,
  store: PolicyStore,
): Promise<void> {
  if ((await store.proposals.read(revision)) !== undefined) return
  decline(
    `refused: policy.trust requires ${signatures} signatures for the live policy: run "postern policy propose ${revision} -m WHY --key FILE", have others approve it, then promote it again`,
  )
}

async function publish(
  shadow: ObservedShadow,
  options: Options,
  { settings, io }: { readonly settings: PolicySettings; readonly io: Io },
): Promise<number> {
  const { revision, base } = shadow.head
  const evidence = promotionEvidence(shadow.evidence)
  const trust = settings.trust()
  if (trust !== undefined && trust.signatures > 1) {
    await withPolicyStore(settings, (store) => requireProposal(revision, trust.signatures, store))
    return pushProposal(revision, options, io, { kind: 'promote', evidence })
  }
  const { output, yes } = options
  const { waitSeconds, allowLost, replicas } = waitingOf(options)
  const message = options.message ?? shadow.head.message
  const signing = await ownSigning(options.key, trust, { proposed: revision, io })
  const author = authorOf(options.author, signing.signer, io)
  const { admission } = settings.admission()
  return withPolicyStore(settings, async (store) => {
    const document = await store.read(revision)
    if (document === undefined) {
      return decline(`refused: Redis lost the document of ${revision}: push the shadow again`)
    }
    const { files } = document
    const set = policyOf(document)
    const engine = reportEngine(set, io)
    io.err(slowNote(engine))
    const over = { option: options.over, directory: { name: 'the shadow', base } }
    const report = await publishPolicy(
      {
        ...{ files, set, engine, author, message, yes, over, waitSeconds, replicas, admission },
        ...{ signing, evidence, replay: options.replay, kind: 'promote' },
      },
      { store, io },
    )
    if (report === undefined) return decline('not published')
    return reportPublication(report, { output, allowLost }, io)
  })
}
