import { checkAgainst } from '../../policy/checks/check.ts'
import { knownRoles } from '../../policy/checks/known-roles.ts'
import { isSamePolicy } from '../../policy/review/same-policy.ts'
import type { PolicyFile, PolicySet } from '../../policy/set/policy-set.ts'
import type { Signed } from '../../signing/statement.ts'
import {
  createDocument,
  type Head,
  type Move,
  type PolicyDocument,
  type PolicyStore,
} from '../../stores/policies/policy-store.ts'
import {
  activeHead,
  type LiveState,
  readLiveState,
} from '../../stores/policies/proposals/live-state.ts'
import { reviewProposal } from '../../stores/policies/proposals/review-proposal.ts'
import { decline } from '../declined.ts'
import type { Replayed } from '../policy/evidence-descriptions.ts'
import type { OpenProposal } from './open-proposal.ts'
import { describeHead, type OverOption, overProblem } from './over.ts'
import { staleReason } from './proposal-state.ts'
import { compareWith, type ReviewParts, readLive, type Tell } from './review.ts'
import { liveStatement, type Signer, signatureNote } from './signing.ts'

/** What to publish, by whom and why. */
export interface Publication {
  readonly files: readonly PolicyFile[]
  readonly set: PolicySet
  readonly kind: Move['kind']
  readonly author: string
  readonly message: string
  /** Which revision it may replace. */
  readonly over: OverOption
  /** A person reads the review and confirms it. */
  readonly isAsked: boolean
  /** Asks the policy about recorded decisions. */
  readonly replay: (() => Promise<Replayed>) | undefined
  readonly signer: Signer | undefined
  /** What others have signed: then exactly that is published. */
  readonly approved?: OpenProposal
  /** What speaks for it, which the history keeps. */
  readonly evidence?: NonNullable<Move['evidence']>
}

/**
 * Compares a publication with the live policy. Declines what must not replace that. Without a live
 * policy that could be read, there is no diff. `isLive`: the same one is live, nothing is to publish.
 */
export async function reviewPublication(publication: Publication, parts: ReviewParts) {
  const { set, kind, over, isAsked, signer, approved } = publication
  const { store, trust, tell } = parts
  const live = await readLiveState(store, { trust, now: Date.now() })
  tell({ note: signatureNote(live, signer, approved?.signatures) })
  // Someone else may publish while a person reads the proposal.
  const again = approved && reviewProposal(approved.proposal, { live, trust, now: Date.now() })
  if (again?.state === 'stale') return decline(`refused: ${staleReason(again)}`)
  const before = await readLive(live.revision, store)
  // Publishing again repairs a document that is lost or broken, and signs one that is not signed.
  const isSigning = approved !== undefined || (signer !== undefined && !live.isSigned)
  const isKept = live.head !== undefined && !isSigning
  if (typeof before !== 'string' && isKept && isSamePolicy(before, set)) {
    tell({ note: `${set.revision} is already live: nothing to publish` })
    return { publication, live, isLive: true, diff: undefined, replay: undefined }
  }
  if (kind === 'push' && typeof before !== 'string')
    tell({ warnings: newRoles(before, publication) })
  const diff = compareWith(before, set, parts)
  const replay = await publication.replay?.()
  const candidate = { revision: set.revision, over, isAsked }
  const reason = await overProblem(activeHead(live), candidate, store)
  return reason === undefined ? { publication, live, isLive: false, diff, replay } : decline(reason)
}

/** A mistyped role key looks like a new role. */
function newRoles(live: PolicySet, { set, files }: Publication) {
  return checkAgainst(knownRoles(`the live policy ${live.revision}`, live), set, files)
}

/**
 * Publishes what was reviewed, over the revision that it was compared with. Declines if another is live.
 * `parent` was live before: the same one when nothing had to be published. `unconfirmed`: why a failover of
 * Redis could lose it, if so.
 */
export async function commitPublication(
  {
    publication,
    live,
    isLive,
  }: Pick<Awaited<ReturnType<typeof reviewPublication>>, 'publication' | 'live' | 'isLive'>,
  { store, actor, tell }: Pick<ReviewParts, 'store' | 'actor' | 'tell'>,
) {
  const { head: seen } = live
  if (isLive && seen !== undefined) {
    const unconfirmed = await store.unconfirmed(seen)
    tellRisk(unconfirmed, tell)
    return { head: seen, parent: seen.revision, unconfirmed }
  }
  const { set, kind, signer, approved, evidence } = publication
  const { document, signed } = await createSigned(publication, live)
  const { name, origin } = actor
  const published = await store.publish(document, seen?.revision, {
    kind,
    origin,
    ...(approved !== undefined && name !== document.author && { publisher: name }),
    ...(signed !== undefined && { signed }),
    ...(evidence !== undefined && { evidence }),
  })
  if (!published.moved) return decline(await supersededBy(seen, published.head, store))

  const { head, unconfirmed } = published
  const names = approved?.signers ?? (signer === undefined ? [] : [signer.name])
  const by = names.length === 0 ? '' : `, signed by ${names.join(', ')}`
  tell({ note: `published ${set.revision} over ${seen?.revision ?? 'nothing'}${by}` })
  tellRisk(unconfirmed, tell)
  return { head, parent: seen?.revision, unconfirmed }
}

/** The document of a publication and its signatures: what others approved, or a new one. */
async function createSigned(
  { files, author, message, signer, approved }: Publication,
  { revision: parent, after }: LiveState,
): Promise<{ readonly document: PolicyDocument; readonly signed: Signed | undefined }> {
  if (approved !== undefined) {
    const { document, proposal, signatures } = approved
    const { statement } = proposal
    // Only without `policy.trust` can a proposal be unsigned; gateways that have it reject it.
    return { document, signed: signatures.length === 0 ? undefined : { statement, signatures } }
  }
  const document = createDocument(files, { author, message, parent, now: new Date() })
  if (signer === undefined) return { document, signed: undefined }
  const statement = liveStatement(document, after)
  return { document, signed: { statement, signatures: [await signer.sign(statement)] } }
}

function tellRisk(unconfirmed: string | undefined, tell: Tell): void {
  if (unconfirmed === undefined) return
  tell({ note: `note: a Redis failover could lose this revision: ${unconfirmed}` })
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
