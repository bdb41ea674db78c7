import { decline } from '../../operations/declined.ts'
import { durationMs } from '../../operations/duration.ts'
import {
  type PolicySettings,
  policySettings,
  withPolicyStore,
} from '../../operations/policy-settings.ts'
import { findShadow, type ObservedShadow, refuseFiles } from '../../operations/publish/shadow.ts'
import { obstaclesTo, promotionEvidence } from '../../policy/shadow/promotion.ts'
import { policyOf } from '../../stores/policies/policy-store.ts'
import type { Call, Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { notedEngine } from './candidate.ts'
import { checkOver, checkRevision, publishPolicy, waitingOf } from './publish.ts'
import { pushProposal } from './push.ts'
import { formatObstacle, formatReplicas, formatShadow, formatTotals } from './shadow-in-words.ts'
import type { promoteSpec } from './shadow-specs.ts'
import { soleAuthorOf } from './signer.ts'

/** Makes the shadow live, if its evidence allows it. */
export const policyPromote: Run<typeof promoteSpec> = async (
  { options, arguments: [revision] },
  io,
) => {
  checkRevision(revision)
  checkOver(options.over)
  const { allowLost } = waitingOf(options)
  const afterMs = options.after === undefined ? 0 : durationMs('after', options.after)
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
  return promote(shadow, options, { settings, io })
}

async function promote(
  { head, evidence: observed }: ObservedShadow,
  options: Call<typeof promoteSpec>['options'],
  { settings, io }: { readonly settings: PolicySettings; readonly io: Io },
): Promise<number> {
  const { revision, base } = head
  const evidence = promotionEvidence(observed)
  const trust = settings.trust()
  if (trust !== undefined && trust.signatures > 1) {
    // One person cannot sign for all: what is promoted is the proposal that others approved.
    const proposal = await withPolicyStore(settings, (store) => store.proposals.read(revision))
    if (proposal !== undefined) {
      return pushProposal(revision, options, io, { kind: 'promote', evidence })
    }
    return decline(
      `refused: policy.trust requires ${trust.signatures} signatures for the live policy: run "postern policy propose ${revision} -m WHY --key FILE", have others approve it, then promote it again`,
    )
  }
  const sole = await soleAuthorOf(options, trust, { proposed: revision, io })
  return withPolicyStore(settings, async (store) => {
    const document = await store.read(revision)
    if (document === undefined) {
      return decline(`refused: Redis lost the document of ${revision}: push the shadow again`)
    }
    const set = policyOf(document)
    const publication = {
      ...{ ...sole, files: document.files, set, kind: 'promote' as const, evidence },
      message: options.message ?? head.message,
      over: { option: options.over, directory: { name: 'the shadow', base } },
      engine: notedEngine(set, io),
    }
    const waiting = waitingOf(options)
    return publishPolicy(publication, options, { waiting, settings, store, io })
  })
}
