import { fingerprintOf } from '../../signing/ssh-public-key.ts'
import type { Trust } from '../../signing/trust.ts'
import { openPolicySigner } from '../../stores/keys/signing-key.ts'
import { decline } from '../declined.ts'
import type { InputOf } from '../operation.ts'
import type { policyPropose } from './descriptions.ts'
import type { ReviewIo } from './review.ts'
import type { Signer } from './signing.ts'

/** Opens the key of `--key`. Declines a key that `policy.trust` does not list. */
export async function openSigner(
  file: string,
  trust: Trust | undefined,
  { context: { cwd, env }, tell }: Pick<ReviewIo, 'context' | 'tell'>,
): Promise<Signer> {
  const { publicKey, isExposed, sign } = await openPolicySigner(file, { cwd, env })
  const fingerprint = fingerprintOf(publicKey)
  const listed = trust?.keys.find(({ id }) => id === publicKey.id)
  if (trust !== undefined && listed === undefined) {
    return decline(
      `refused: policy.trust.keys does not list the key in ${file} (${fingerprint}), so its signature would not count`,
    )
  }
  if (isExposed) {
    tell({ note: `note: other users can read ${file}: run "chmod 600 ${file}"` })
  }
  const trustedName = listed?.name
  return { name: trustedName ?? fingerprint, fingerprint, trustedName, sign }
}

type AuthorInput = Pick<InputOf<typeof policyPropose.input>, 'key' | 'author'>

/**
 * Who makes a change, which the history keeps, and the key that signs it. The author that the user names,
 * else the owner of the key, as far as `policy.trust` knows.
 */
export async function authorOf(
  { key, author: named }: AuthorInput,
  { settings, context, tell }: ReviewIo,
) {
  const trust = settings.trust()
  const signer = key === undefined ? undefined : await openSigner(key, trust, { context, tell })
  const author = (named ?? signer?.trustedName ?? context.userName ?? '').trim()
  if (author === '') return decline('the author is empty: give one with --author')
  return { author, signer }
}

/**
 * The author of a publication that one person makes. Declines where `policy.trust` requires more than
 * that person can give; `proposed` is what to propose instead.
 */
export async function soleAuthorOf(input: AuthorInput, proposed: string, reviewing: ReviewIo) {
  const trust = reviewing.settings.trust()
  if (trust !== undefined && trust.signatures > 1) {
    return decline(
      `refused: policy.trust requires ${trust.signatures} signatures: run "postern policy propose ${proposed} -m WHY --key FILE", have others approve it, then push the proposed revision`,
    )
  }
  if (trust !== undefined && input.key === undefined) {
    return decline('refused: policy.trust requires a signature: add --key FILE')
  }
  return authorOf(input, reviewing)
}
