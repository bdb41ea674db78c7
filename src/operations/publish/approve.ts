import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Trust } from '../../signing/trust.ts'
import {
  type ReviewedProposal,
  reviewProposal,
} from '../../stores/policies/proposals/review-proposal.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { ReviewOf } from '../operation.ts'
import { diffDocument } from '../policy/compare-access.ts'
import { readVersion } from '../policy/versions.ts'
import { withPolicyStore } from '../policy-settings.ts'
import { openSigner } from './author.ts'
import { checkAgain } from './check-again.ts'
import type { policyApprove } from './descriptions.ts'
import { comparedNote, type OpenProposal, openProposal, readCompared } from './open-proposal.ts'
import { nextStep, proposalDocument, staleReason } from './proposal-state.ts'
import { checkRevision } from './publishing.ts'
import {
  compareWith,
  type ReviewIo,
  type ReviewParts,
  refuseBroken,
  reviewParts,
  withRemarks,
} from './review.ts'
import { givenSigner, type Signer, signatureNote } from './signing.ts'

/** Shows a proposal to a person. The commit signs it. */
export const review: ReviewOf<typeof policyApprove, string> = (input, caller) =>
  withRemarks(caller, async (reviewing) => {
    const { revision: name, key, signature: given, base } = input
    checkRevision(name)
    const { settings, context } = reviewing
    const trust = settings.trust()
    const signer = await signerOf({ key, given }, trust, reviewing)
    const read = async (copy: string) => (await readVersion(copy, settings, context)).set
    const copy = base === undefined ? undefined : { name: base, read: () => read(base) }
    const review = await withPolicyStore(settings, (store) =>
      reviewApproval(name, { signer, copy }, reviewParts(store, reviewing)),
    )
    const { open, diff } = review
    // A signature that was made elsewhere followed the checks and the question there.
    if (given === undefined) await checkAgain(open.set, input, reviewing)
    else refuseBroken(open.set, reviewing)
    const { revision } = open.proposal
    return {
      document: { revision, signer: signer.name, diff: diff && diffDocument(diff) },
      isSure: given !== undefined,
      commit: () =>
        withPolicyStore(settings, async (store) => {
          const signed = await commitApproval(review, { store, trust })
          const document = { signedBy: signer.name, ...proposalDocument(signed) }
          return { document, shown: nextStep(signed) }
        }),
    }
  })

async function signerOf(
  { key, given }: { readonly key: string | undefined; readonly given: string | undefined },
  trust: Trust | undefined,
  reviewing: ReviewIo,
): Promise<Signer> {
  if (key !== undefined && given === undefined) return openSigner(key, trust, reviewing)
  if (key === undefined && given !== undefined) return givenSigner(given, trust)
  const message = 'give either --key FILE, the file of your private key, or --signature TEXT'
  throw new InvalidInput(undefined, message)
}

/** A person's own copy of the policy that a proposal follows. */
interface OwnCopy {
  readonly name: string
  readonly read: () => Promise<PolicySet>
}

/** Verifies a proposal and compares it. Declines one that is stale, or that this key has signed already. */
async function reviewApproval(
  name: string,
  { signer, copy }: { readonly signer: Signer; readonly copy: OwnCopy | undefined },
  parts: ReviewParts,
) {
  const { store, trust, tell } = parts
  const open = await openProposal(name, parts)
  const { revision, signatures } = open.proposal
  tell({ proposal: open })
  tell({ note: signatureNote(open.live, signer) })
  if (open.state === 'stale') return decline(`refused: ${staleReason(open)}`)
  const hasSigned =
    trust === undefined ? signatures.has(signer.fingerprint) : open.signers.includes(signer.name)
  if (hasSigned) {
    return decline(`refused: ${signer.name} has signed ${revision} already: another key must sign`)
  }
  const before = await trustedBase(open, copy, { store, tell })
  return { open, signer, diff: compareWith(before, open.set, parts) }
}

/**
 * What to compare a proposal with. Declines one that follows a statement without enough trusted signatures, unless the person
 * has a copy of it: a comparison with what someone planted in Redis would hide what changes.
 */
async function trustedBase(
  open: OpenProposal,
  copy: OwnCopy | undefined,
  { store, tell }: Pick<ReviewParts, 'store' | 'tell'>,
): Promise<PolicySet | string> {
  const compared = await readCompared(open, store)
  const { revision } = open.proposal
  const { after } = open.statement
  if (copy === undefined || after === null) {
    if (compared.problem === undefined) {
      tell({ note: comparedNote(compared, open) })
      return compared.before
    }
    return decline(
      `refused: ${revision} cannot be compared: ${compared.problem}; if you have the files of ${after?.revision}, name their directory with --base DIR`,
    )
  }
  const set = await copy.read()
  if (set.revision !== after.revision) {
    return decline(
      `refused: ${copy.name} is ${set.revision}, but ${revision} follows ${after.revision}`,
    )
  }
  tell({ note: `compared with ${copy.name}, your copy of ${set.revision}` })
  return set
}

/** Signs what was reviewed. Declines a proposal that was replaced or removed since. */
async function commitApproval(
  { open, signer }: { readonly open: OpenProposal; readonly signer: Signer },
  { store, trust }: Pick<ReviewParts, 'store' | 'trust'>,
): Promise<ReviewedProposal> {
  const { proposal, live } = open
  const { fingerprint } = signer
  const signature = await signer.sign(proposal.statement)
  const result = await store.proposals.sign(proposal, { fingerprint, signature })
  if (result !== 'done') return decline(refusals[result](proposal.revision))
  // Not read again, because someone may have published it already.
  const signatures = new Map(proposal.signatures).set(fingerprint, signature)
  return reviewProposal({ ...proposal, signatures }, { live, trust, now: Date.now() }) ?? open
}

const refusals = {
  missing: (revision: string) =>
    `refused: the proposal of ${revision} was published or dropped while you read it`,
  changed: (revision: string) =>
    `refused: ${revision} was proposed again while you read it: review the new proposal`,
} as const
