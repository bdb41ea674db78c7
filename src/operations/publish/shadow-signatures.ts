import { createStatement, parseStatement, type Signed } from '../../signing/statement.ts'
import { signersOf, type Trust } from '../../signing/trust.ts'
import type { PolicyDocument } from '../../stores/policies/policy-store.ts'
import type { ShadowHead } from '../../stores/policies/shadow/shadow-head.ts'
import { decline } from '../declined.ts'
import type { Signer } from './signing.ts'

/** What to sign: the statement that others have signed, or a new one. */
export function toSign(
  document: PolicyDocument,
  { author, message }: { readonly author: string; readonly message: string },
  stored: Signed | undefined,
  trust: Trust | undefined,
): Signed {
  if (stored !== undefined && isAbout(document, stored)) {
    const signatures = goodSignatures(stored, trust)
    // Without a good signature, anyone who can write to Redis may have written the statement.
    if (signatures.length > 0) return { statement: stored.statement, signatures }
  }
  const parts = { purpose: 'shadow', after: null, author, message, document } as const
  const statement =
    createStatement({ ...parts, now: new Date() }) ??
    decline('refused: author and message are too long together')
  return { statement, signatures: [] }
}

/** Others could crowd out ours: gateways read a bounded number, and only one of each key. */
function goodSignatures(
  { statement, signatures }: Signed,
  trust: Trust | undefined,
): readonly string[] {
  if (trust === undefined) return signatures
  return signatures.filter((one) => signedCount({ statement, signatures: [one] }, trust) > 0)
}

export async function addSignature(
  { statement, signatures }: Signed,
  signer: Signer,
): Promise<Signed> {
  return { statement, signatures: [...signatures, await signer.sign(statement)] }
}

/** Redis may have been altered: people must not sign a statement that makes another policy live. */
function isAbout({ revision, checksum }: PolicyDocument, { statement: text }: Signed): boolean {
  const statement = parseStatement(text)
  if (statement?.purpose !== 'shadow') return false
  return statement.revision === revision && statement.document === checksum
}

/** Whether `policy.trust` asks for more signatures, and that of this person is not there yet. */
export function lacksSignature(
  document: PolicyDocument,
  { signed }: ShadowHead,
  signer: Signer | undefined,
  trust: Trust | undefined,
): boolean {
  if (trust === undefined || signer === undefined) return false
  if (signed === undefined || !isAbout(document, signed)) return true
  const { trusted } = signersOf(signed, 'shadow', trust)
  return trusted.length < trust.signatures && !trusted.some(({ name }) => name === signer.name)
}

export function signedCount(signed: Signed, trust: Trust): number {
  return signersOf(signed, 'shadow', trust).trusted.length
}
