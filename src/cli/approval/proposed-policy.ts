import type { Admission } from '../../admission/verdict.ts'
import { type PolicySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import type { PolicyFile, PolicySet } from '../../policy/set/policy-set.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { replayOf } from '../../stores/policies/proposals/proposal.ts'
import type { ProposalAbout, ProposalEvidence } from '../../stores/policies/proposals/proposals.ts'
import type { Call } from '../command.ts'
import { showReplay } from '../evidence/replay/replay.ts'
import type { Io } from '../io.ts'
import { reportEngine, slowNote } from '../policy/engine-cost.ts'
import { readPublished } from '../policy/versions.ts'
import { type BasePlace, readBase, readProposed } from '../publish/base.ts'
import { readCandidate } from '../publish/candidate.ts'
import type { Over } from '../publish/over.ts'
import type { proposeSpec } from './specs.ts'

/** What is proposed, before the live policy is known. */
export interface Proposed {
  readonly files: readonly PolicyFile[]
  readonly set: PolicySet
  readonly admission: Admission
  readonly kind: ProposalAbout['kind']
  readonly evidence: ProposalEvidence
  readonly over: Over
  /** The directory, which records what was proposed. */
  readonly place?: BasePlace
}

type ProposeCall = Call<typeof proposeSpec>

/** Reads and checks what the user named: a directory, or a revision to go back to. */
export async function readProposedPolicy(
  call: ProposeCall,
  settings: PolicySettings,
  io: Io,
): Promise<Proposed | number> {
  const name = call.arguments[0] ?? settings.directory
  const proposed = isRevision(name)
    ? await readEarlier(name, call, settings, io)
    : await readDirectory(name, call, settings, io)
  const { replay: log } = call.options
  if (typeof proposed === 'number' || log === undefined) return proposed
  const replay = replayOf(await showReplay(log, proposed.set, io))
  return { ...proposed, evidence: { ...proposed.evidence, replay } }
}

async function readEarlier(
  name: string,
  { options }: ProposeCall,
  settings: PolicySettings,
  io: Io,
): Promise<Proposed> {
  const { files, set } = await withPolicyStore(settings, (store) =>
    readPublished(name, { store, settings, io }),
  )
  io.err(slowNote(reportEngine(set, io)))
  const { admission } = settings.admission()
  const over = { option: options.over }
  return { files, set, admission, kind: 'rollback', evidence: { warnings: 0 }, over }
}

async function readDirectory(
  name: string,
  { options }: ProposeCall,
  settings: PolicySettings,
  io: Io,
): Promise<Proposed | number> {
  const candidate = await readCandidate(name, options, { settings, io })
  if (typeof candidate === 'number') return candidate
  const { files, set, admission, tests, warnings } = candidate
  // A draft has no record of where it comes from.
  const place =
    io.draft === undefined ? { directory: name, cwd: io.cwd, redis: settings.redis() } : undefined
  const evidence = {
    warnings: warnings.length,
    tests: { passed: tests.outcomes.length, coverage: tests.coverage.percent },
  }
  const bases =
    place === undefined
      ? { base: undefined, proposed: undefined }
      : { base: await readBase(place), proposed: await readProposed(place) }
  const over = { option: options.over, directory: { name, ...bases } }
  return { files, set, admission, kind: 'push', evidence, over, ...(place && { place }) }
}
