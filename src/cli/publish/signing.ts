import { decline } from '../../operations/declined.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { fingerprintOf } from '../../signing/ssh-public-key.ts'
import { createStatement, type Predecessor, type Signed } from '../../signing/statement.ts'
import type { Trust } from '../../signing/trust.ts'
import { openPolicySigner } from '../../stores/keys/signing-key.ts'
import { createDocument, type PolicyDocument } from '../../stores/policies/policy-store.ts'
import type { LiveState } from '../../stores/policies/proposals/live-state.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { untrustedHead } from '../policy/versions.ts'

/** A person's key, which counts for the gateways as far as the configuration says. */
export interface Signer {
  /** The name in `policy.trust.keys`; without `policy.trust`, the fingerprint. */
  readonly name: string
  readonly fingerprint: string
  /** The same name, where the configuration vouches for it. */
  readonly trustedName: string | undefined
  sign(statement: string): Promise<string>
}

/** Whose signatures count for a publication, and the key of the person who makes it. */
export interface Signing {
  readonly trust: Trust | undefined
  readonly signer: Signer | undefined
}

/** A document that others have signed. */
export interface Approved {
  readonly document: PolicyDocument
  readonly signed: Signed | undefined
  /** The names of those who signed it. */
  readonly signers: readonly string[]
  /** Why it must not replace what is live, if so. */
  readonly whyStale: (live: LiveState) => string | undefined
}

/** Opens the key of `--key`. Declines a key that `policy.trust` does not list. */
export async function openSigner(file: string, trust: Trust | undefined, io: Io): Promise<Signer> {
  const { publicKey, isExposed, sign } = await openPolicySigner(file, { cwd: io.cwd, env: io.env })
  const fingerprint = fingerprintOf(publicKey)
  const listed = trust?.keys.find(({ id }) => id === publicKey.id)
  if (trust !== undefined && listed === undefined) {
    return decline(
      `refused: policy.trust.keys does not list the key in ${file} (${fingerprint}), so its signature would not count`,
    )
  }
  if (isExposed) {
    io.err(printable(`note: other users can read ${file}: run "chmod 600 ${file}"`).concat('\n'))
  }
  const trustedName = listed?.name
  return { name: trustedName ?? fingerprint, fingerprint, trustedName, sign }
}

/**
 * The signer of a publication that one person makes. Declines where `policy.trust` requires more than
 * that person can give; `proposed` is what to propose instead.
 */
export async function ownSigning(
  file: string | undefined,
  trust: Trust | undefined,
  { proposed, io }: { readonly proposed: string; readonly io: Io },
): Promise<Signing> {
  if (trust !== undefined && trust.signatures > 1) {
    return decline(
      `refused: policy.trust requires ${trust.signatures} signatures: run "postern policy propose ${proposed} -m WHY --key FILE", have others approve it, then push the proposed revision`,
    )
  }
  if (trust !== undefined && file === undefined) {
    return decline('refused: policy.trust requires a signature: add --key FILE')
  }
  return { trust, signer: file === undefined ? undefined : await openSigner(file, trust, io) }
}

/** What to sign to make a document live after another one. */
export function liveStatement(document: PolicyDocument, after: Predecessor | null): string {
  const { author, message, at } = document
  const parts = { purpose: 'live', after, author, message, document, now: new Date(at) } as const
  return createStatement(parts) ?? decline('refused: author and message are too long together')
}

/** What is to be published, as far as its signatures depend on it. */
interface ToSign {
  readonly files: readonly PolicyFile[]
  readonly author: string
  readonly message: string
  readonly signing: Signing
  readonly approved?: Approved
}

/** Creates the document of a publication, and signs it if its author has a key. */
export async function createSigned(
  { files, author, message, signing: { signer } }: ToSign,
  { revision: parent, after }: LiveState,
): Promise<{ readonly document: PolicyDocument; readonly signed: Signed | undefined }> {
  const document = createDocument(files, { author, message, parent, now: new Date() })
  if (signer === undefined) return { document, signed: undefined }
  const statement = liveStatement(document, after)
  return { document, signed: { statement, signatures: [await signer.sign(statement)] } }
}

/** Whether to publish a policy that is live already, for its signatures. */
export function needsSignature(
  { isSigned }: LiveState,
  { signing, approved }: Pick<ToSign, 'signing' | 'approved'>,
): boolean {
  return approved !== undefined || (signing.signer !== undefined && !isSigned)
}

/** `, signed by ann, ben`; empty without signatures that count. */
export function signedBy({ signing, approved }: Pick<ToSign, 'signing' | 'approved'>): string {
  const names = approved?.signers ?? (signing.signer === undefined ? [] : [signing.signer.name])
  return names.length === 0 ? '' : printable(`, signed by ${names.join(', ')}`)
}

/** What a publisher should know about the signatures of what is live; empty when all is well. */
export function signatureNote(
  live: LiveState,
  { signing, approved }: Pick<ToSign, 'signing' | 'approved'>,
): string {
  const isUnsigned = signing.signer === undefined && approved?.signed === undefined
  if (!live.isSigned || !isUnsigned) return untrustedHead(live)
  return 'note: the live policy is signed, and this one is not: gateways with policy.trust will reject it: sign it with --key FILE\n'
}
