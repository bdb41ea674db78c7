import { decline } from '../../../operations/declined.ts'
import {
  type PolicySettings,
  policySettings,
  withPolicyStore,
} from '../../../operations/policy-settings.ts'
import { isRevision } from '../../../stores/policies/document/policy-document.ts'
import type { PolicyStore } from '../../../stores/policies/policy-store.ts'
import { readLiveState } from '../../../stores/policies/proposals/live-state.ts'
import { pushAny } from '../../approval/push.ts'
import { type Call, type Run, UsageError } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { jsonPieces } from '../../format.ts'
import type { Io } from '../../io.ts'
import { diffAsJson } from '../../policy/diff-json.ts'
import { reportEngine, slowNote } from '../../policy/engine-cost.ts'
import { readVersion, untrustedHead } from '../../policy/versions.ts'
import { type BasePlace, readBase, writeProposed } from '../../publish/base.ts'
import { readCandidate } from '../../publish/candidate.ts'
import { compareWithLive, readLive } from '../../publish/live.ts'
import { authorOf } from '../../publish/push.ts'
import { openSigner } from '../../publish/signing.ts'
import { messageOption, type pushSpec } from '../../publish/specs.ts'
import { waitingOf } from '../../publish/waiting.ts'
import { awaitEvaluation, isEvaluated } from './evaluation.ts'
import { refuseFiles } from './read-shadow.ts'
import { formatReplicas } from './shadow-in-words.ts'
import { type NewShadow, storeShadow } from './store-shadow.ts'

/** Publishes a policy, or makes it the shadow. */
export const pushAnyOrShadow: Run<typeof pushSpec> = async (call, io) =>
  call.options.shadow ? pushShadow(call, io) : pushAny(call, io)

type PushCall = Call<typeof pushSpec>

async function pushShadow(call: PushCall, io: Io): Promise<number> {
  const { options } = call
  if (options.over !== undefined) {
    throw new UsageError('--over is for the live policy: a shadow replaces only another shadow')
  }
  const { waitSeconds, allowLost, replicas: expected } = waitingOf(options)
  const settings = policySettings(options.config, io)
  refuseFiles(settings)
  const trust = settings.trust()
  if (trust !== undefined && options.key === undefined) {
    return decline('refused: policy.trust requires signatures, also for a shadow: add --key FILE')
  }
  const signer = options.key === undefined ? undefined : await openSigner(options.key, trust, io)
  const author = authorOf(options.author, signer, io)
  const running = await readRunning(call, settings)
  const message = (options.message ?? running?.message ?? '').trim()
  if (message === '') throw new UsageError(`-m is required: ${messageOption.message.required}`)
  const candidate = await readPolicy(running?.revision, call, { settings, io })
  if (typeof candidate === 'number') return candidate

  return withPolicyStore(settings, async (store) => {
    const { set, place } = candidate
    const live = await readLiveState(store, { trust, now: Date.now() })
    io.err(untrustedHead(live))
    if (live.revision === set.revision) {
      return decline(`${set.revision} is already live: as a shadow it would never differ`)
    }
    const diff = compareWithLive(candidate, await readLive(live.revision, store), io)
    const base = await baseOf(place, live.revision, io)
    const shadow = { ...candidate, author, message, base, trust, signer, yes: options.yes }
    if (options['dry-run']) return rehearse(shadow, store, io)
    const head = await storeShadow(shadow, { store, io })
    if (place !== undefined) await writeProposed(place, set.revision)
    const evidence =
      waitSeconds === undefined
        ? undefined
        : await awaitEvaluation({ seconds: waitSeconds, expected }, { store, io })
    const ok = evidence === undefined || isEvaluated(evidence, { allowLost, expected })
    if (options.output === 'json') {
      const { replicas } = evidence ?? {}
      const report = { ok, shadow: head, engine: candidate.engine, replicas }
      for (const piece of jsonPieces({ ...report, diff: diff && diffAsJson(diff) })) io.out(piece)
      return ok ? exitCodes.done : exitCodes.no
    }
    if (evidence === undefined) {
      io.out(`${set.revision} is the shadow; replicas not checked\n`)
      return exitCodes.done
    }
    const replicas = evidence.replicas.filter(({ state }) => state !== 'ended')
    const others = replicas.filter(({ state }) => state !== 'evaluating')
    io.err(formatReplicas(others))
    io.out(`${replicas.length - others.length}/${replicas.length} evaluate ${set.revision}\n`)
    return ok ? exitCodes.done : exitCodes.no
  })
}

/** The shadow that runs, if it is the one that the user named, to sign it too. */
async function readRunning({ arguments: [named] }: PushCall, settings: PolicySettings) {
  if (!isRevision(named)) return undefined
  const stored = await withPolicyStore(settings, (store) => store.shadow.read())
  return stored?.head?.revision.startsWith(named) ? stored.head : undefined
}

/** A directory that is valid and tested, or a proposed, published or evaluated revision. */
async function readPolicy(
  running: string | undefined,
  { options, arguments: [named] }: PushCall,
  { settings, io }: { readonly settings: PolicySettings; readonly io: Io },
) {
  const name = running ?? named ?? settings.directory
  if (isRevision(name)) {
    const { files, set } = await readVersion(name, settings, io)
    const engine = reportEngine(set, io)
    io.err(slowNote(engine))
    return { files, set, engine, admission: settings.admission().admission, place: undefined }
  }
  const candidate = await readCandidate(name, options, { settings, io })
  if (typeof candidate === 'number') return candidate
  return { ...candidate, place: { directory: name, cwd: io.cwd, redis: settings.redis() } }
}

/** The live revision that the files come from; `promote` refuses to replace another one. */
async function baseOf(
  place: BasePlace | undefined,
  live: string | undefined,
  io: Io,
): Promise<string | undefined> {
  const base = (place && (await readBase(place))) ?? live
  if (base !== live && place !== undefined) {
    io.err(
      `note: ${place.directory} comes from ${base}, but ${live ?? 'nothing'} is live: merge that before you promote the shadow\n`,
    )
  }
  return base
}

async function rehearse(
  { set }: Pick<NewShadow, 'set'>,
  store: PolicyStore,
  io: Io,
): Promise<number> {
  const before = await store.shadow.read()
  const over =
    before === undefined ? '' : ` in place of ${before.head?.revision ?? 'an invalid one'}`
  io.out(`dry run: would make ${set.revision} the shadow${over}\n`)
  return exitCodes.done
}
