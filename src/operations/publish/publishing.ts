import { printable } from '../../kernel/printable.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import type { PolicyStore } from '../../stores/policies/policy-store.ts'
import type { Context } from '../context.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { InputOf, Reviewed } from '../operation.ts'
import { diffDocument } from '../policy/compare-access.ts'
import type { EngineReport } from '../policy/engine-cost.ts'
import type { Replayed } from '../policy/evidence-descriptions.ts'
import { replayLogs } from '../policy/replay-logs.ts'
import { withPolicyStore } from '../policy-settings.ts'
import {
  awaitConvergence,
  type Convergence,
  convergedWords,
  convergenceOf,
  isConverged,
} from './convergence.ts'
import type { PublishedDocument, PublishPlan, policyRollback } from './descriptions.ts'
import { commitPublication, type Publication, reviewPublication } from './publication.ts'
import { type Remark, type ReviewIo, type ReviewParts, reviewParts, type Tell } from './review.ts'

/** What a command publishes. */
interface Published extends Omit<Publication, 'isAsked' | 'replay'> {
  readonly engine: EngineReport
}

/** How a caller publishes. */
export type PublishInput = Pick<
  InputOf<typeof policyRollback.input>,
  'over' | 'replay' | 'wait' | 'no-wait' | 'allow-lost' | 'replicas'
> & { readonly 'dry-run'?: boolean }

/** What only texts show of a review. */
export interface PlanExtras {
  readonly remarks: readonly Remark[]
  /** Which replicas would be waited for. */
  readonly known?: Convergence | undefined
}

interface PublishParts {
  readonly input: PublishInput
  readonly reviewing: ReviewIo
  /** Runs after the publication. */
  readonly settle?: (store: PolicyStore, revision: string) => Promise<unknown>
}

/**
 * Reviews what `source` gives beside the live policy. The commit publishes exactly that over the revision
 * that was reviewed, and waits for the replicas.
 */
export function reviewPublishing(
  source: (parts: ReviewParts) => Promise<Published>,
  { input, reviewing, settle }: PublishParts,
): Promise<Reviewed<PublishPlan, PublishedDocument>> {
  const { settings, context } = reviewing
  const { seconds, expected, allowLost } = waitingOf(input)
  return withPolicyStore(settings, async (store) => {
    const parts = reviewParts(store, reviewing)
    const { engine, ...published } = await source(parts)
    const { set } = published
    const { replay: log } = input
    const replay = log === undefined ? undefined : () => tellReplay(log, set, reviewing)
    const publication = { ...published, isAsked: context.isAsked === true, replay }
    const review = await reviewPublication(publication, parts)
    const { live, isLive } = review
    const found = input['dry-run'] && seconds !== undefined ? await store.replicas() : undefined
    // Every replica that reports would load it.
    const next = { revision: set.revision, sequence: 0 }
    const known = found && { ...convergenceOf(next, found, expected), behind: [] }
    const ok = known === undefined || isConverged(known, { allowLost })
    const about = { diff: review.diff && diffDocument(review.diff), replay: review.replay, engine }
    return {
      document: {
        ...{ dryRun: true, ok, revision: set.revision, publishes: !isLive },
        ...{ parent: live.head?.revision ?? null, ...about },
        replicas: found?.map(({ id, lost }) => ({ id, lost })),
      },
      ...{ shown: { known }, outcome: ok ? 'done' : 'no', isSure: isLive },
      commit: () =>
        withPolicyStore(settings, async (again) => {
          const { actor } = context
          const done = await commitPublication(review, { store: again, actor, tell: told(context) })
          const { head, parent, unconfirmed } = done
          const convergence =
            seconds === undefined
              ? undefined
              : await watched(convergedWords, context, (onWait) =>
                  awaitConvergence(head, { seconds, expected, onWait }, again),
                )
          await settle?.(again, head.revision)
          const { diff, ...others } = about
          const document = { head, parent, diff, ...others, unconfirmed, convergence }
          return { document, outcome: outcomeOf(convergence, allowLost) }
        }),
    }
  })
}

function outcomeOf(convergence: Convergence | undefined, allowLost: boolean) {
  if (convergence === undefined) return 'done'
  if (convergence.problem !== undefined) return 'unavailable'
  return isConverged(convergence, { allowLost }) ? 'done' : 'no'
}

/** Tells people at once: what follows may take minutes. */
export function told({ err }: Context): Tell {
  return (remark) => {
    if ('note' in remark && remark.note !== '') err(`${printable(remark.note)}\n`)
  }
}

/** Replays a log for a person who is about to publish the policy. */
export async function tellReplay(
  file: string,
  set: PolicySet,
  { context, tell }: Pick<ReviewIo, 'context' | 'tell'>,
): Promise<Replayed> {
  if (file === '-') {
    throw new InvalidInput(undefined, '--replay: name a file: the answer comes from stdin')
  }
  const replay = await replayLogs([file], set, { io: context })
  tell({ replay })
  return replay
}

/** Waits, and shows a person how far the replicas are. */
export async function watched<State>(
  inWords: (state: State) => string,
  { progress }: Context,
  wait: (onWait: (state: State) => void) => Promise<State>,
): Promise<State> {
  const state = await wait((each) => progress?.show(() => `waiting for replicas: ${inWords(each)}`))
  progress?.end()
  return state
}

/** Long enough for a replica that missed the message and polls. */
const defaultSeconds = 15

/** How to wait for the replicas. `seconds` is `undefined` where they are not checked. */
export function waitingOf(
  input: Pick<PublishInput, 'wait' | 'no-wait' | 'allow-lost' | 'replicas'>,
) {
  const { wait, 'no-wait': noWait, 'allow-lost': allowLost, replicas: expected } = input
  if (!noWait) return { seconds: wait ?? defaultSeconds, allowLost, expected }
  const other = (['wait', 'replicas'] as const).find((name) => input[name] !== undefined)
  if (other === undefined) return { seconds: undefined, allowLost, expected }
  throw new InvalidInput(undefined, `--${other} and --no-wait cannot be combined`)
}

/** Throws `InvalidInput` when the value of `--over` cannot be a revision. */
export function checkOver(option: string | undefined): void {
  if (option === undefined || option === 'live' || isRevision(option)) return
  const shown = JSON.stringify(option)
  throw new InvalidInput('over', `${shown} is neither "live" nor a revision such as r-3f2a9c81d604`)
}

/** Throws `InvalidInput` when this cannot be a revision. */
export function checkRevision(name: string): void {
  if (isRevision(name)) return
  const shown = JSON.stringify(name)
  throw new InvalidInput('revision', `${shown} is not a revision such as r-3f2a9c81d604`)
}
