import type { FleetEvidence } from '../../policy/shadow/fleet-evidence.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { InputOf, Reviewed, ReviewOf } from '../operation.ts'
import { diffDocument } from '../policy/compare-access.ts'
import { readVersion } from '../policy/versions.ts'
import { withPolicyStore } from '../policy-settings.ts'
import { authorOf, soleAuthorOf } from './author.ts'
import { baseNotWritten, readOver, writeBase, writeProposed } from './base.ts'
import { notedEngine, readCandidate, readNamed } from './candidate.ts'
import { awaitEvaluation, evaluatingOf, isEvaluated } from './convergence.ts'
import type {
  PublishedDocument,
  PublishPlan,
  policyPush,
  ShadowPlan,
  ShadowPushed,
} from './descriptions.ts'
import { refuseFiles } from './observed-shadow.ts'
import { type OpenProposal, openProposal } from './open-proposal.ts'
import { nextStep } from './proposal-state.ts'
import type { Publication } from './publication.ts'
import {
  checkOver,
  type PublishInput,
  reviewPublishing,
  told,
  waitingOf,
  watched,
} from './publishing.ts'
import {
  type ReviewIo,
  type ReviewParts,
  refuseBroken,
  reviewParts,
  withRemarks,
} from './review.ts'
import { commitShadow, prepareShadow, reviewShadow } from './shadow.ts'

type PushInput = InputOf<typeof policyPush.input>

/** Publishes a directory, or a proposal that enough people have signed, or makes a policy the shadow. */
export const review: ReviewOf<typeof policyPush> = (input, context) => {
  const { shadow, revision: name } = input
  return withRemarks<Plan, Document, unknown>(context, (reviewing) => {
    if (shadow) return reviewShadowPush(input, reviewing)
    return isRevision(name)
      ? reviewProposal(name, input, reviewing)
      : reviewDirectory(input, reviewing)
  })
}

type Plan = PublishPlan | ShadowPlan
type Document = PublishedDocument | ShadowPushed

function reasonOf(message: string | undefined): string {
  const reason = (message ?? '').trim()
  if (reason !== '') return reason
  throw new InvalidInput(undefined, '-m is required: give the reason for this change')
}

/** A policy directory that is valid and tested. */
async function reviewDirectory(input: PushInput, reviewing: ReviewIo) {
  const message = reasonOf(input.message)
  checkOver(input.over)
  waitingOf(input)
  const { settings, context } = reviewing
  const name = input.revision ?? settings.directory
  const sole = await soleAuthorOf(input, name, reviewing)
  const candidate = await readCandidate(name, input, reviewing)
  const { place, set } = candidate
  const over = await readOver(input.over, name, place)
  const settle = async () => {
    const isNoted = place === undefined || (await writeBase(place, set.revision))
    if (!isNoted && input.over === undefined) told(context)({ note: baseNotWritten(name) })
  }
  const publication = { ...candidate, ...sole, kind: 'push' as const, message, over }
  return reviewPublishing(async () => publication, { input, reviewing, settle })
}

/** What makes a proposal more than an ordinary push. */
type Promotion = Pick<Publication, 'kind' | 'evidence'>

type ProposalInput = PublishInput &
  Readonly<Record<'message' | 'author' | 'key', string | undefined>>

/** Exactly what was proposed. */
export async function reviewProposal(
  name: string,
  input: ProposalInput,
  reviewing: ReviewIo,
  promotion?: Promotion,
) {
  checkOver(input.over)
  // The proposal has an author, a reason and signatures: others would not be what was approved.
  for (const each of ['message', 'author', 'key'] as const) {
    if (input[each] === undefined) continue
    const shown = each === 'message' ? '-m' : `--${each}`
    const why = 'is for a directory: a proposal is published as it was approved'
    throw new InvalidInput(undefined, `${shown} ${why}`)
  }
  waitingOf(input)
  return reviewPublishing(
    async (parts) => {
      const approved = await openApproved(name, parts)
      const { document, set, proposal, statement } = approved
      const { author, message } = statement
      refuseBroken(set, reviewing)
      return {
        ...{ approved, files: document.files, set, kind: proposal.about.kind, author, message },
        ...{ engine: notedEngine(set, reviewing), over: { option: input.over } },
        ...{ signer: undefined, ...promotion },
      }
    },
    { input, reviewing, settle: (store, revision) => store.proposals.drop(revision) },
  )
}

/** Reads a proposal to publish. Declines one that is stale, or that too few trusted keys have signed. */
async function openApproved(name: string, parts: ReviewParts): Promise<OpenProposal> {
  const open = await openProposal(name, parts)
  parts.tell({ proposal: open })
  return open.state === 'approved' ? open : decline(`refused: ${nextStep(open)}`)
}

/** A policy to evaluate beside the live one. */
async function reviewShadowPush(
  input: PushInput,
  reviewing: ReviewIo,
): Promise<Reviewed<ShadowPlan, ShadowPushed>> {
  if (input.over !== undefined) {
    const message = '--over is for the live policy: a shadow replaces only another shadow'
    throw new InvalidInput(undefined, message)
  }
  const { seconds, allowLost, expected } = waitingOf(input)
  const { context, settings } = reviewing
  refuseFiles(settings)
  if (settings.trust() !== undefined && input.key === undefined) {
    return decline('refused: policy.trust requires signatures, also for a shadow: add --key FILE')
  }
  const { author, signer } = await authorOf(input, reviewing)
  const running = await readRunning(input.revision, reviewing)
  const message = reasonOf(input.message ?? running?.message)
  const name = running?.revision ?? input.revision ?? settings.directory
  const read = () => readVersion(name, settings, context)
  const candidate = await readNamed(name, input, read, reviewing)

  return withPolicyStore(settings, async (store) => {
    const { place, engine, set } = candidate
    const { revision } = set
    const parts = reviewParts(store, reviewing)
    const review = await reviewShadow({ ...candidate, author, message, signer }, parts)
    const { over } = review
    const diff = review.diff && diffDocument(review.diff)
    const replaces = over && (over.head?.revision ?? null)
    const prepared = input['dry-run'] ? undefined : await prepareShadow(review, parts)
    const known = prepared && 'known' in prepared ? prepared.known : undefined
    return {
      document: { dryRun: true, ok: true, shadow: revision, replaces, engine, diff },
      isSure: known !== undefined,
      commit: () =>
        withPolicyStore(settings, async (again) => {
          const now = reviewParts(again, { ...reviewing, tell: told(context) })
          const next = prepared ?? (await prepareShadow(review, now))
          const head = 'known' in next ? next.known : await commitShadow(next, now)
          if (place !== undefined) await writeProposed(place, revision)
          const evidence =
            seconds === undefined
              ? undefined
              : await watched(
                  (each: FleetEvidence) => `${evaluatingOf(each)} evaluate the shadow`,
                  context,
                  (onWait) => awaitEvaluation({ seconds, expected, onWait }, again),
                )
          const ok = evidence === undefined || isEvaluated(evidence, { allowLost, expected })
          const document = { ok, shadow: head, engine, replicas: evidence?.replicas, diff }
          return { document, outcome: ok ? 'done' : 'no' }
        }),
    }
  })
}

/** The shadow that runs, if it is the one that the user named, to sign it too. */
async function readRunning(named: string | undefined, { settings }: ReviewIo) {
  if (!isRevision(named)) return undefined
  const stored = await withPolicyStore(settings, (store) => store.shadow.read())
  return stored?.head?.revision.startsWith(named) ? stored.head : undefined
}
