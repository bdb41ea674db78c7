import type { Admission } from '../../admission/verdict.ts'
import type { PlacedDiff } from '../../answers/placed-diff.ts'
import { decline } from '../../operations/declined.ts'
import { checkAgainst } from '../../policy/checks/check.ts'
import { knownRoles } from '../../policy/checks/known-roles.ts'
import { isSamePolicy } from '../../policy/review/same-policy.ts'
import type { PolicyFile, PolicySet } from '../../policy/set/policy-set.ts'
import type { Replay } from '../../replay/replay.ts'
import type { Head, Move, PolicyStore } from '../../stores/policies/policy-store.ts'
import {
  activeHead,
  type LiveState,
  readLiveState,
} from '../../stores/policies/proposals/live-state.ts'
import { isConfirmed, reviewFirst } from '../confirm.ts'
import { showReplay } from '../evidence/replay/replay.ts'
import { exitCodes } from '../exit-codes.ts'
import { jsonPieces } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import { diffAsJson } from '../policy/diff-json.ts'
import type { EngineReport } from '../policy/engine-cost.ts'
import { formatFindings } from '../policy/review.ts'
import {
  awaitConvergence,
  type Convergence,
  formatBehind,
  formatConvergence,
  isConverged,
} from './convergence.ts'
import { compareWithLive, readLive } from './live.ts'
import { describeHead, type Over, whyNotOver } from './over.ts'
import {
  type Approved,
  createSigned,
  needsSignature,
  type Signing,
  signatureNote,
  signedBy,
} from './signing.ts'

/** What to publish, by whom and why. */
export interface Publication {
  readonly files: readonly PolicyFile[]
  readonly set: PolicySet
  readonly engine: EngineReport
  readonly kind: Move['kind']
  readonly author: string
  readonly message: string
  /** Publish without asking. */
  readonly yes: boolean
  /** The configuration by which the diff names routes. */
  readonly admission: Admission
  /** A decision log to ask the policy about. */
  readonly replay: string | undefined
  /** Which revision it may replace. */
  readonly over: Over
  /** `undefined`: publish without checking the replicas. */
  readonly waitSeconds: number | undefined
  /** How many replicas must use it; `undefined`: those that report. */
  readonly replicas: number | undefined
  /** Whose signatures count, and the key to sign with. */
  readonly signing: Signing
  /** What others have signed: then exactly that is published. */
  readonly approved?: Approved
  /** What speaks for it, which the history keeps. */
  readonly evidence?: NonNullable<Move['evidence']>
}

/** The result of a publication. */
interface PublicationReport {
  readonly head: Head
  /** The revision that was live before; the same one when nothing had to be published. */
  readonly parent: string | undefined
  /** `undefined` when no live policy could be read. */
  readonly diff: PlacedDiff | undefined
  /** `undefined` when no log was replayed. */
  readonly replay: Replay | undefined
  /** The engine of the published policy. */
  readonly engine: EngineReport
  /** Why a failover of Redis could lose it, if so. */
  readonly unconfirmed: string | undefined
  /** `undefined` when the replicas were not checked. */
  readonly convergence: Convergence | undefined
}

interface PublishParts {
  readonly store: PolicyStore
  readonly io: Io
}

/** What is live, and how the publication differs from it. */
interface ReviewedChange {
  readonly seen: Head | undefined
  readonly state: LiveState
  /** The same policy is live. */
  readonly isLive: boolean
  readonly diff: PlacedDiff | undefined
  readonly replay: Replay | undefined
}

/** Shows what changes compared with the live policy. Declines what must not replace it. */
export async function reviewChange(
  publication: Publication,
  { store, io }: PublishParts,
): Promise<ReviewedChange> {
  const { set, yes, kind, over, signing, approved } = publication
  const state = await readLiveState(store, { trust: signing.trust, now: Date.now() })
  const { head: seen } = state
  io.err(signatureNote(state, publication))
  const stale = approved?.whyStale(state)
  if (stale !== undefined) return decline(stale)
  const live = await readLive(state.revision, store)
  // Publishing again repairs a document that is lost or broken, and signs one that is not signed.
  const isKept = !needsSignature(state, publication)
  if (typeof live !== 'string' && seen !== undefined && isSamePolicy(live, set) && isKept) {
    io.err(`${set.revision} is already live: nothing to publish\n`)
    return { seen, state, isLive: true, diff: undefined, replay: undefined }
  }
  if (kind === 'push' && typeof live !== 'string') warnOfNewRoles(publication, live, io)
  const diff = compareWithLive(publication, live, io)
  const { replay: log } = publication
  const replay = log === undefined ? undefined : await showReplay(log, set, io)
  const isAsked = !yes && io.isTerminal === true
  const candidate = { revision: set.revision, over, isAsked }
  const reason = await whyNotOver(activeHead(state), candidate, store)
  return reason === undefined ? { seen, state, isLive: false, diff, replay } : decline(reason)
}

/**
 * Shows what changes compared with the live policy, asks, publishes over the revision that was shown,
 * and waits for the replicas. Returns `undefined` when the user says no. Throws a Fault when someone
 * else published in between.
 */
export async function publishPolicy(
  publication: Publication,
  parts: PublishParts,
): Promise<PublicationReport | undefined> {
  const { store, io } = parts
  const { set, engine, yes, kind, waitSeconds, replicas, approved, evidence } = publication
  const convergenceWith = async (head: Head) =>
    waitSeconds === undefined
      ? undefined
      : awaitConvergence(head, { seconds: waitSeconds, replicas }, { store, io })
  const { seen, state, isLive, diff, replay } = await reviewChange(publication, parts)
  if (isLive && seen !== undefined) {
    const unconfirmed = await store.unconfirmed(seen)
    noteRisk(unconfirmed, io)
    const convergence = await convergenceWith(seen)
    return { head: seen, parent: seen.revision, diff, replay, engine, unconfirmed, convergence }
  }
  if (!yes && !(await confirmPublication(set.revision, io))) return undefined

  const { document, signed } = approved ?? (await createSigned(publication, state))
  const { name, origin } = operator(io)
  const options = {
    kind,
    origin,
    ...(approved !== undefined && name !== document.author && { publisher: name }),
    ...(signed !== undefined && { signed }),
    ...(evidence !== undefined && { evidence }),
  }
  const published = await store.publish(document, seen?.revision, options)
  if (!published.moved) return decline(await supersededBy(seen, published.head, store))

  io.err(`published ${set.revision} over ${seen?.revision ?? 'nothing'}${signedBy(publication)}\n`)
  const { head, unconfirmed } = published
  noteRisk(unconfirmed, io)
  const convergence = await convergenceWith(head)
  return { head, parent: seen?.revision, diff, replay, engine, unconfirmed, convergence }
}

function noteRisk(unconfirmed: string | undefined, io: Io): void {
  if (unconfirmed === undefined) return
  io.err(`note: a Redis failover could lose this revision: ${unconfirmed}\n`)
}

/** A mistyped role key looks like a new role. */
function warnOfNewRoles({ set, files }: Publication, live: PolicySet, io: Io): void {
  const before = knownRoles(`the live policy ${live.revision}`, live)
  io.err(formatFindings('warning', checkAgainst(before, set, files)))
}

/** Asks whether to publish what was shown. */
export function confirmPublication(subject: string, io: Io): Promise<boolean> {
  return isConfirmed(`Publish ${subject} to every replica?`, reviewFirst('diff'), io)
}

async function supersededBy(
  seen: Head | undefined,
  found: Head | undefined,
  store: PolicyStore,
): Promise<string> {
  const saw = seen?.revision ?? 'nothing'
  if (found === undefined)
    return `refused: ${saw} was live, but now nothing is published: run "postern policy status"`
  return `refused: ${saw} was live when you looked, now ${await describeHead(found, store)}; nothing was published: run "postern policy diff"`
}

/** Prints which replicas use it, and returns the exit code. */
export function reportPublication(
  report: PublicationReport,
  { output, allowLost }: { readonly output: 'text' | 'json'; readonly allowLost: boolean },
  io: Io,
): number {
  const { convergence, head } = report
  if (output === 'json') {
    const diff = report.diff && diffAsJson(report.diff)
    for (const piece of jsonPieces({ ...report, diff })) io.out(piece)
  } else if (convergence === undefined) io.out(`${head.revision} is live; replicas not checked\n`)
  else if (convergence.problem !== undefined) {
    io.err(`published, but cannot list the replicas: ${convergence.problem}\n`)
  } else {
    io.err(formatBehind(convergence))
    io.out(`${formatConvergence(convergence)}\n`)
  }
  if (convergence === undefined) return exitCodes.done
  if (convergence.problem !== undefined) return exitCodes.unavailable
  return isConverged(convergence, { allowLost }) ? exitCodes.done : exitCodes.no
}
