import type { PlacedDiff } from '../../answers/placed-diff.ts'
import { decline } from '../../operations/declined.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Trust } from '../../signing/trust.ts'
import {
  type ReviewedProposal,
  reviewProposal,
} from '../../stores/policies/proposals/review-proposal.ts'
import { type Run, UsageError } from '../command.ts'
import { isConfirmed, reviewFirst } from '../confirm.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { conclusionOf } from '../policy/access.ts'
import { readVersion } from '../policy/versions.ts'
import { compareWithLive } from '../publish/live.ts'
import { openSigner, type Signer, signatureNote } from '../publish/signing.ts'
import { type CheckParts, checkAgain } from './check-again.ts'
import { givenSigner } from './given-signer.ts'
import {
  type Compared,
  checkRevision,
  formatCompared,
  type OpenProposal,
  openProposal,
  readCompared,
} from './open-proposal.ts'
import { formatProposal, nextStep, proposalAsJson, staleReason } from './proposal-in-words.ts'
import type { approveSpec } from './specs.ts'

/** Shows a proposal to a person and signs it. */
export const policyApprove: Run<typeof approveSpec> = async (call, io) => {
  const {
    options: { key, signature: given, yes, output, config, base: copy },
    arguments: [name],
  } = call
  checkRevision(name)
  const settings = policySettings(config, io)
  const { admission } = settings.admission()
  const trust = settings.trust()
  const signer = await signerOf({ key, given }, trust, io)
  return withPolicyStore(settings, async (store) => {
    const open = await openProposal(name, { store, settings, io })
    const { proposal } = open
    const { revision } = proposal
    io.err(formatProposal(open) + signatureNote(open.live, { signing: { trust, signer } }))
    if (open.state === 'stale') return decline(`refused: ${staleReason(open)}`)
    const hasSigned =
      trust === undefined
        ? proposal.signatures.has(signer.fingerprint)
        : open.signers.includes(signer.name)
    if (hasSigned) {
      return decline(
        `refused: ${signer.name} has signed ${revision} already: another key must sign`,
      )
    }
    const compared = await readCompared(open, store)
    const before = await trustedBase(open, compared, { copy, settings, io })
    const diff = compareWithLive({ set: open.set, admission }, before, io)
    // Whoever made a signature elsewhere was asked there, after the checks there.
    const isSure = yes || given !== undefined
    if (given === undefined) {
      const code = await checkAgain(open.set, call.options, { settings, io })
      if (code !== exitCodes.done) return code
    }
    if (!isSure && !(await confirmSigning({ revision, diff }, signer.name, io))) {
      return decline('not signed')
    }

    const signature = await signer.sign(proposal.statement)
    const { fingerprint } = signer
    const result = await store.proposals.sign(proposal, { fingerprint, signature })
    if (result !== 'done') return decline(refusals[result](revision))
    const signed = withSignature(open, { fingerprint, signature, trust })
    if (output === 'json') io.out(json({ signedBy: signer.name, ...proposalAsJson(signed) }))
    else {
      io.out(printable(`${signer.name} signed ${revision}`).concat('\n'))
      io.err(`${nextStep(signed)}\n`)
    }
    return 0
  })
}

/**
 * What to compare a proposal with. Declines one that follows a statement without enough trusted signatures, unless the person
 * has a copy of it: a comparison with what someone planted in Redis would hide what changes.
 */
async function trustedBase(
  { statement, proposal, needed }: ReviewedProposal,
  compared: Compared,
  { copy, settings, io }: CheckParts & { readonly copy: string | undefined },
): Promise<PolicySet | string> {
  const { after } = statement
  if (copy === undefined || after === null) {
    if (compared.problem === undefined) {
      io.err(formatCompared(compared, { statement, needed }))
      return compared.before
    }
    return decline(
      `refused: ${proposal.revision} cannot be compared: ${compared.problem}; if you have the files of ${after?.revision}, name their directory with --base DIR`,
    )
  }
  const { set } = await readVersion(copy, settings, io)
  if (set.revision !== after.revision) {
    return decline(
      `refused: ${copy} is ${set.revision}, but ${proposal.revision} follows ${after.revision}`,
    )
  }
  io.err(printable(`compared with ${copy}, your copy of ${set.revision}`).concat('\n'))
  return set
}

async function signerOf(
  { key, given }: { readonly key: string | undefined; readonly given: string | undefined },
  trust: Trust | undefined,
  io: Io,
): Promise<Signer> {
  if (key !== undefined && given === undefined) return openSigner(key, trust, io)
  if (key === undefined && given !== undefined) return givenSigner(given, trust)
  throw new UsageError('give either --key FILE, the file of your private key, or --signature TEXT')
}

/** The proposal as it is now; not read again, because someone may have published it already. */
function withSignature(
  open: OpenProposal,
  {
    fingerprint,
    signature,
    trust,
  }: {
    readonly fingerprint: string
    readonly signature: string
    readonly trust: Trust | undefined
  },
): ReviewedProposal {
  const signatures = new Map(open.proposal.signatures).set(fingerprint, signature)
  const proposal = { ...open.proposal, signatures }
  return reviewProposal(proposal, { live: open.live, trust, now: Date.now() }) ?? open
}

const refusals = {
  missing: (revision: string) =>
    `refused: the proposal of ${revision} was published or dropped while you read it`,
  changed: (revision: string) =>
    `refused: ${revision} was proposed again while you read it: review the new proposal`,
} as const

/**
 * Asks the person who is about to sign. Says again what changes: a proposer decides how many lines about
 * tests and replay follow the diff, and could push it off the screen.
 */
export function confirmSigning(
  { revision, diff }: { readonly revision: string; readonly diff: PlacedDiff | undefined },
  name: string,
  io: Io,
): Promise<boolean> {
  const changed = diff === undefined ? 'not compared: all is new' : conclusionOf(diff)
  return isConfirmed(`${changed}. Sign ${revision} as ${name}?`, reviewFirst('proposal'), io)
}
