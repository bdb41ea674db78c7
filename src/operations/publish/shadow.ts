import { createStatement, parseStatement, type Signed } from '../../signing/statement.ts'
import { signersOf, type Trust } from '../../signing/trust.ts'
import { createDocument, type PolicyDocument } from '../../stores/policies/policy-store.ts'
import { readLiveState } from '../../stores/policies/proposals/live-state.ts'
import type { ShadowHead } from '../../stores/policies/shadow/shadow-head.ts'
import { decline } from '../declined.ts'
import { untrustedHead } from '../policy/versions.ts'
import { readBase } from './base.ts'
import type { Candidate } from './candidate.ts'
import type { Publication } from './publication.ts'
import { compareWith, type ReviewParts, readLive, readStored } from './review.ts'
import type { Signer } from './signing.ts'

/** What to evaluate beside the live policy, by whom and why. */
type NewShadow = Pick<Candidate, 'files' | 'set' | 'place'> &
  Pick<Publication, 'author' | 'message' | 'signer'>

/**
 * Compares a shadow with the live policy. Declines that policy itself. `base` is the live revision that
 * the files come from: `promote` refuses to replace another one. `over` is the shadow that it replaces.
 */
export async function reviewShadow(shadow: NewShadow, parts: ReviewParts) {
  const { set, place } = shadow
  const { store, trust, tell } = parts
  const live = await readLiveState(store, { trust, now: Date.now() })
  tell({ note: untrustedHead(live) })
  if (live.revision === set.revision) {
    return decline(`${set.revision} is already live: as a shadow it would never differ`)
  }
  const diff = compareWith(await readLive(live.revision, store), set, parts)
  const base = (place && (await readBase(place))) ?? live.revision
  if (base !== live.revision && place !== undefined) {
    tell({
      note: `note: ${place.directory} comes from ${base}, but ${live.revision ?? 'nothing'} is live: merge that before you promote the shadow`,
    })
  }
  return { shadow, base, diff, over: await store.shadow.read() }
}

/** What becomes the shadow: exactly this document, as people pushed and signed it. */
interface PreparedShadow {
  readonly review: Awaited<ReturnType<typeof reviewShadow>>
  readonly document: PolicyDocument
  readonly author: string
  readonly message: string
  /** What to sign; `undefined` without a key. */
  readonly unsigned: Signed | undefined
}

/**
 * Prepares what was reviewed, in place of the shadow that is there. The same policy again changes nothing,
 * so that counting continues, unless it adds a signature that `policy.trust` requires.
 */
export async function prepareShadow(
  review: Awaited<ReturnType<typeof reviewShadow>>,
  { store, trust, tell }: ReviewParts,
): Promise<PreparedShadow | { readonly known: ShadowHead }> {
  const { shadow, over, base } = review
  const { set, signer } = shadow
  const { revision } = set
  // What was published or evaluated before stays as it is: signatures are about one document.
  const stored = await readStored(revision, store)
  const document =
    typeof stored === 'string'
      ? createDocument(shadow.files, { ...shadow, parent: base, now: new Date() })
      : stored
  const known = over?.head?.revision === revision ? over.head : undefined
  if (known !== undefined && !lacksSignature(document, known, signer, trust)) {
    tell({ note: `${revision} is already the shadow: counting continues` })
    return { known }
  }
  if (over !== undefined && known === undefined) tell({ note: replacedBy(over.head) })
  const unsigned = signer && toSign(document, shadow, known?.signed, trust)
  // A further signature does not change who pushed it, and why.
  const { author, message } = (unsigned && parseStatement(unsigned.statement)) ?? shadow
  if (signer !== undefined) {
    const what = `${signer.name} signs for the shadow ${revision}, pushed by ${author}: ${message}`
    tell({ note: what })
  }
  return { review, document, author, message, unsigned }
}

/** Makes what was prepared the shadow. Declines if another one was pushed or ended since. */
export async function commitShadow(
  { review, document, author, message, unsigned }: PreparedShadow,
  { store, trust, tell }: ReviewParts,
): Promise<ShadowHead> {
  const { base, over } = review
  const { signer } = review.shadow
  const signed = unsigned && signer && (await addSignature(unsigned, signer))
  const head = await store.shadow.push(document, { author, message, base, signed, over })
  if (head === undefined) {
    return decline('refused: the shadow changed meanwhile: run "postern policy shadow"')
  }
  const { revision } = document
  tell({ note: `${revision} is the shadow: only the live policy is enforced` })
  const missing = trust && signed && trust.signatures - signedCount(signed, trust)
  if (missing !== undefined && missing > 0) {
    tell({
      note: `gateways evaluate it once ${missing} more of policy.trust.keys signed it: others run "postern policy push --shadow ${revision} --key FILE"`,
    })
  }
  return head
}

function replacedBy(head: ShadowHead | undefined): string {
  if (head === undefined) return 'replaces a shadow that is not valid'
  const { revision, author, message } = head
  return `replaces the shadow ${revision}, pushed by ${author}: ${message}`
}

/** What to sign: the statement that others have signed, or a new one. */
function toSign(
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

async function addSignature({ statement, signatures }: Signed, signer: Signer): Promise<Signed> {
  return { statement, signatures: [...signatures, await signer.sign(statement)] }
}

/** Redis may have been altered: people must not sign a statement that makes another policy live. */
function isAbout({ revision, checksum }: PolicyDocument, { statement: text }: Signed): boolean {
  const statement = parseStatement(text)
  if (statement?.purpose !== 'shadow') return false
  return statement.revision === revision && statement.document === checksum
}

/** Whether `policy.trust` asks for more signatures, and that of this person is not there yet. */
function lacksSignature(
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

function signedCount(signed: Signed, trust: Trust): number {
  return signersOf(signed, 'shadow', trust).trusted.length
}
