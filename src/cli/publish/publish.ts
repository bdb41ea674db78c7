import { decline } from '../../operations/declined.ts'
import { diffDocument } from '../../operations/policy/diff-document.ts'
import type { EngineReport } from '../../operations/policy/engine-cost.ts'
import type { PolicySettings } from '../../operations/policy-settings.ts'
import {
  awaitConvergence,
  convergenceOf,
  isConverged,
} from '../../operations/publish/convergence.ts'
import {
  commitPublication,
  type Publication,
  type ReviewedPublication,
  reviewPublication,
} from '../../operations/publish/publication.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import type { PolicyStore } from '../../stores/policies/policy-store.ts'
import { UsageError } from '../command.ts'
import { isConfirmed, reviewFirst } from '../confirm.ts'
import { showReplay } from '../evidence/replay/replay.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, jsonPieces } from '../format.ts'
import type { Io } from '../io.ts'
import { formatBehind, formatConvergence } from './convergence-in-words.ts'
import { reviewParts } from './review-parts.ts'

/** What a command publishes. */
interface Published extends Omit<Publication, 'isAsked' | 'replay'> {
  readonly engine: EngineReport
}

interface PublishOptions {
  readonly output: 'text' | 'json'
  /** Without asking. */
  readonly yes: boolean
  readonly replay: string | undefined
  readonly 'dry-run'?: boolean
}

interface PublishParts {
  readonly waiting: Waiting
  readonly settings: PolicySettings
  readonly store: PolicyStore
  readonly io: Io
  /** Runs after the publication, before its report. */
  readonly settle?: () => Promise<unknown>
}

/**
 * Shows what changes compared with the live policy, asks, publishes over the revision that was shown,
 * and waits for the replicas. Returns the exit code.
 */
export async function publishPolicy(
  { engine, ...published }: Published,
  options: PublishOptions,
  { waiting, settings, store, io, settle }: PublishParts,
): Promise<number> {
  const { output, yes, replay: log } = options
  const { set } = published
  const parts = reviewParts(store, settings, io)
  const replay = log === undefined ? undefined : () => showReplay(log, set, io)
  const isAsked = !yes && io.isTerminal === true
  const review = await reviewPublication({ ...published, isAsked, replay }, parts)
  if (options['dry-run']) return rehearse(review, { output, engine }, { waiting, store, io })
  const isSure = yes || review.isLive || (await confirmPublication(set.revision, io))
  if (!isSure) return decline('not published')

  const { head, parent, unconfirmed } = await commitPublication(review, parts)
  const { waitSeconds: seconds, replicas: expected, allowLost } = waiting
  const convergence =
    seconds === undefined
      ? undefined
      : await showWaiting(formatConvergence, io, (onWait) =>
          awaitConvergence(head, { seconds, expected, onWait }, store),
        )
  await settle?.()
  if (output === 'json') {
    const diff = review.diff && diffDocument(review.diff)
    const report = { head, parent, diff, replay: review.replay, engine, unconfirmed, convergence }
    for (const piece of jsonPieces(report)) io.out(piece)
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

/** Asks whether to publish what was shown. */
export function confirmPublication(subject: string, io: Io): Promise<boolean> {
  return isConfirmed(`Publish ${subject} to every replica?`, reviewFirst('diff'), io)
}

/**
 * Says what would follow a review. Returns the exit code that the publication would have if every
 * reporting replica loaded the policy.
 */
async function rehearse(
  { publication, live, isLive, diff, replay }: ReviewedPublication,
  { output, engine }: Pick<PublishOptions, 'output'> & Pick<Published, 'engine'>,
  { waiting, store, io }: Omit<PublishParts, 'settings'>,
): Promise<number> {
  const { revision } = publication.set
  const { waitSeconds, replicas: expected, allowLost } = waiting
  const head = { revision, sequence: 0 }
  // Every replica that reports would load it.
  const found = waitSeconds === undefined ? undefined : await store.replicas()
  const known = found && { ...convergenceOf(head, found, expected), behind: [] }
  const ok = known === undefined || isConverged(known, { allowLost })
  const code = ok ? exitCodes.done : exitCodes.no
  const parent = live.head?.revision

  if (output === 'json') {
    const report = {
      ...{ dryRun: true, ok, revision, publishes: !isLive, parent: parent ?? null },
      ...{ diff: diff && diffDocument(diff), replay, engine },
      replicas: found?.map(({ id, lost }) => ({ id, lost })),
    }
    for (const piece of jsonPieces(report)) io.out(piece)
    return code
  }
  if (known !== undefined) io.err(formatBehind(known))
  const would = isLive ? 'publish nothing' : `publish ${revision} over ${parent ?? 'nothing'}`
  const reporting = known && count(known.replicas.length - known.lost.length, 'replica')
  const then = reporting === undefined ? '' : ` and wait for ${reporting}`
  io.out(`dry run: would ${would}${then}${ok ? '' : ', then exit with 1'}\n`)
  return code
}

/** Waits, and shows a person how far the replicas are. */
export async function showWaiting<State>(
  inWords: (state: State) => string,
  io: Io,
  wait: (onWait: (state: State) => void) => Promise<State>,
): Promise<State> {
  const state = await wait((each) =>
    io.progress?.show(() => `waiting for replicas: ${inWords(each)}`),
  )
  io.progress?.end()
  return state
}

interface Waiting {
  /** `undefined`: the replicas are not checked. */
  readonly waitSeconds: number | undefined
  readonly allowLost: boolean
  /** How many replicas the user expects, if they say so. */
  readonly replicas: number | undefined
}

/** Long enough for a replica that missed the message and polls. */
const defaultSeconds = 15

/** How `push` and `rollback` wait for the replicas. */
export function waitingOf(options: {
  readonly wait: number | undefined
  readonly 'no-wait': boolean
  readonly 'allow-lost': boolean
  readonly replicas: number | undefined
}): Waiting {
  const { wait, 'no-wait': noWait, 'allow-lost': allowLost, replicas } = options
  if (!noWait) return { waitSeconds: wait ?? defaultSeconds, allowLost, replicas }
  for (const name of ['wait', 'replicas'] as const) {
    if (options[name] !== undefined)
      throw new UsageError(`--${name} and --no-wait cannot be combined`)
  }
  return { waitSeconds: undefined, allowLost, replicas }
}

/** Throws `UsageError` when the value of `--over` cannot be a revision. */
export function checkOver(option: string | undefined): void {
  if (option === undefined || option === 'live' || isRevision(option)) return
  throw new UsageError(
    `--over: ${JSON.stringify(option)} is neither "live" nor a revision such as r-3f2a9c81d604`,
  )
}

/** Throws `UsageError` when this cannot be a revision. */
export function checkRevision(name: string): void {
  if (isRevision(name)) return
  throw new UsageError(`REVISION: ${JSON.stringify(name)} is not a revision such as r-3f2a9c81d604`)
}
