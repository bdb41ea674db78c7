import type { PlacedDiff } from '../../answers/placed-diff.ts'
import { decline } from '../../operations/declined.ts'
import { readVersion } from '../../operations/policy/versions.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { commitApproval, reviewApproval } from '../../operations/publish/approve.ts'
import { nextStep, proposalDocument } from '../../operations/publish/proposal-state.ts'
import { givenSigner, type Signer } from '../../operations/publish/signing.ts'
import type { Trust } from '../../signing/trust.ts'
import { type Run, UsageError } from '../command.ts'
import { isConfirmed, reviewFirst } from '../confirm.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { conclusionOf } from '../policy/access.ts'
import type { approveSpec } from './approval-specs.ts'
import { checkAgain } from './check-again.ts'
import { checkRevision } from './publish.ts'
import { reviewParts } from './review-parts.ts'
import { openSigner } from './signer.ts'

/** Shows a proposal to a person and signs it. */
export const policyApprove: Run<typeof approveSpec> = async (call, io) => {
  const {
    options: { key, signature: given, yes, output, config, base },
    arguments: [name],
  } = call
  checkRevision(name)
  const settings = policySettings(config, io)
  const signer = await signerOf({ key, given }, settings.trust(), io)
  const read = async (copy: string) => (await readVersion(copy, settings, io)).set
  const copy = base === undefined ? undefined : { name: base, read: () => read(base) }
  return withPolicyStore(settings, async (store) => {
    const parts = reviewParts(store, settings, io)
    const review = await reviewApproval(name, { signer, copy }, parts)
    const { open, diff } = review
    const { revision } = open.proposal
    // Whoever made a signature elsewhere was asked there, after the checks there.
    if (given === undefined) {
      const code = await checkAgain(open.set, call.options, { settings, io })
      if (code !== exitCodes.done) return code
      if (!yes && !(await confirmSigning({ revision, diff }, signer.name, io))) {
        return decline('not signed')
      }
    }

    const signed = await commitApproval(review, parts)
    if (output === 'json') io.out(json({ signedBy: signer.name, ...proposalDocument(signed) }))
    else {
      io.out(printable(`${signer.name} signed ${revision}`).concat('\n'))
      io.err(`${nextStep(signed)}\n`)
    }
    return exitCodes.done
  })
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
