import { decline } from '../../operations/declined.ts'
import { diffDocument } from '../../operations/policy/diff-document.ts'
import { readVersion } from '../../operations/policy/versions.ts'
import {
  type PolicySettings,
  policySettings,
  withPolicyStore,
} from '../../operations/policy-settings.ts'
import { openApproved } from '../../operations/publish/approve.ts'
import {
  baseNotWritten,
  readOver,
  writeBase,
  writeProposed,
} from '../../operations/publish/base.ts'
import { awaitEvaluation, evaluatingOf, isEvaluated } from '../../operations/publish/convergence.ts'
import type { Publication } from '../../operations/publish/publication.ts'
import {
  commitShadow,
  prepareShadow,
  refuseFiles,
  reviewShadow,
} from '../../operations/publish/shadow.ts'
import type { FleetEvidence } from '../../policy/shadow/fleet-evidence.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { type Call, type Run, UsageError } from '../command.ts'
import { isConfirmed, reviewFirst } from '../confirm.ts'
import { exitCodes } from '../exit-codes.ts'
import { jsonPieces } from '../format.ts'
import type { Io } from '../io.ts'
import { notedEngine, readCandidate, readNamed } from './candidate.ts'
import { checkOver, publishPolicy, showWaiting, waitingOf } from './publish.ts'
import { reviewParts } from './review-parts.ts'
import { formatReplicas } from './shadow-in-words.ts'
import { authorOf, soleAuthorOf } from './signer.ts'
import { type candidateOptions, messageOption, type pushSpec } from './specs.ts'

/** Publishes a directory, or a proposal that enough people have signed, or makes a policy the shadow. */
export const policyPush: Run<typeof pushSpec> = async (call, io) => {
  const { options } = call
  const [name] = call.arguments
  if (options.shadow) return pushShadow(call, io)
  return isRevision(name) ? pushProposal(name, options, io) : pushDirectory(call, io)
}

type PushCall = Call<typeof pushSpec>

/** Publishes a policy directory that is valid, tested and confirmed. */
async function pushDirectory({ options, arguments: [named] }: PushCall, io: Io): Promise<number> {
  const message = (options.message ?? '').trim()
  if (message === '') throw new UsageError(`-m is required: ${messageOption.message.required}`)
  checkOver(options.over)
  const waiting = waitingOf(options)
  const settings = policySettings(options.config, io)
  const name = named ?? settings.directory
  const sole = await soleAuthorOf(options, settings.trust(), { proposed: name, io })
  const candidate = await readCandidate(name, options, { settings, io })
  if (typeof candidate === 'number') return candidate
  const { place, set } = candidate
  const over = await readOver(options.over, name, place)
  const settle = async () => {
    const isNoted = place === undefined || (await writeBase(place, set.revision))
    if (!isNoted && options.over === undefined) io.err(`${baseNotWritten(name)}\n`)
  }
  const publication = { ...candidate, ...sole, kind: 'push' as const, message, over }
  return withPolicyStore(settings, (store) =>
    publishPolicy(publication, options, { waiting, settings, store, io, settle }),
  )
}

type Options = Omit<PushCall['options'], 'dry-run' | 'shadow' | keyof typeof candidateOptions> & {
  readonly 'dry-run'?: boolean
}

/** Publishes exactly what was proposed. `promotion`: what makes it more than an ordinary push. */
export async function pushProposal(
  name: string,
  options: Options,
  io: Io,
  promotion?: Pick<Publication, 'kind' | 'evidence'>,
): Promise<number> {
  checkOver(options.over)
  // The proposal has an author, a reason and signatures: others would not be what was approved.
  for (const each of ['message', 'author', 'key'] as const) {
    if (options[each] === undefined) continue
    const shown = each === 'message' ? '-m' : `--${each}`
    throw new UsageError(`${shown} is for a directory: a proposal is published as it was approved`)
  }
  const waiting = waitingOf(options)
  const settings = policySettings(options.config, io)
  return withPolicyStore(settings, async (store) => {
    const approved = await openApproved(name, reviewParts(store, settings, io))
    const { document, set, proposal, statement } = approved
    const { author, message } = statement
    const publication = {
      ...{ approved, files: document.files, set, kind: proposal.about.kind, author, message },
      engine: notedEngine(set, io),
      over: { option: options.over },
      signer: undefined,
      ...promotion,
    }
    const settle = () => store.proposals.drop(set.revision)
    return publishPolicy(publication, options, { waiting, settings, store, io, settle })
  })
}

/** Makes a policy the shadow. */
async function pushShadow(call: PushCall, io: Io): Promise<number> {
  const { options } = call
  if (options.over !== undefined) {
    throw new UsageError('--over is for the live policy: a shadow replaces only another shadow')
  }
  const { waitSeconds: seconds, allowLost, replicas: expected } = waitingOf(options)
  const settings = policySettings(options.config, io)
  refuseFiles(settings)
  const trust = settings.trust()
  if (trust !== undefined && options.key === undefined) {
    return decline('refused: policy.trust requires signatures, also for a shadow: add --key FILE')
  }
  const { author, signer } = await authorOf(options, trust, io)
  const running = await readRunning(call, settings)
  const message = (options.message ?? running?.message ?? '').trim()
  if (message === '') throw new UsageError(`-m is required: ${messageOption.message.required}`)
  const name = running?.revision ?? call.arguments[0] ?? settings.directory
  const read = (revision: string) => readVersion(revision, settings, io)
  const candidate = await readNamed(name, options, read, { settings, io })
  if (typeof candidate === 'number') return candidate

  return withPolicyStore(settings, async (store) => {
    const { place, engine } = candidate
    const { revision } = candidate.set
    const parts = reviewParts(store, settings, io)
    const shadow = { ...candidate, author, message, signer }
    const review = await reviewShadow(shadow, parts)
    if (options['dry-run']) {
      const { over } = review
      const replaced = over && ` in place of ${over.head?.revision ?? 'an invalid one'}`
      io.out(`dry run: would make ${revision} the shadow${replaced ?? ''}\n`)
      return exitCodes.done
    }
    const prepared = await prepareShadow(review, parts)
    const question = `Evaluate ${revision} beside the live policy?`
    const isSure =
      options.yes || 'known' in prepared || (await isConfirmed(question, reviewFirst('diff'), io))
    if (!isSure) return decline('not pushed')

    const head = 'known' in prepared ? prepared.known : await commitShadow(prepared, parts)
    if (place !== undefined) await writeProposed(place, revision)
    const evidence =
      seconds === undefined
        ? undefined
        : await showWaiting(
            (each: FleetEvidence) => `${evaluatingOf(each)} evaluate the shadow`,
            io,
            (onWait) => awaitEvaluation({ seconds, expected, onWait }, store),
          )
    const ok = evidence === undefined || isEvaluated(evidence, { allowLost, expected })
    if (options.output === 'json') {
      const diff = review.diff && diffDocument(review.diff)
      const report = { ok, shadow: head, engine, replicas: evidence?.replicas, diff }
      for (const piece of jsonPieces(report)) io.out(piece)
    } else if (evidence === undefined) {
      io.out(`${revision} is the shadow; replicas not checked\n`)
    } else {
      const replicas = evidence.replicas.filter(({ state }) => state !== 'ended')
      const others = replicas.filter(({ state }) => state !== 'evaluating')
      io.err(formatReplicas(others))
      io.out(`${replicas.length - others.length}/${replicas.length} evaluate ${revision}\n`)
    }
    return ok ? exitCodes.done : exitCodes.no
  })
}

/** The shadow that runs, if it is the one that the user named, to sign it too. */
async function readRunning({ arguments: [named] }: PushCall, settings: PolicySettings) {
  if (!isRevision(named)) return undefined
  const stored = await withPolicyStore(settings, (store) => store.shadow.read())
  return stored?.head?.revision.startsWith(named) ? stored.head : undefined
}
