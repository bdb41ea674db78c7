import { Fault } from '../../../errors.ts'
import type { PolicyFile, PolicySet } from '../../../policy/set/policy-set.ts'
import { createStatement, parseStatement, type Signed } from '../../../signing/statement.ts'
import { signersOf, type Trust } from '../../../signing/trust.ts'
import {
  createDocument,
  type PolicyDocument,
  type PolicyStore,
} from '../../../stores/policies/policy-store.ts'
import type { ShadowHead } from '../../../stores/policies/shadow/shadow-head.ts'
import { decline } from '../../declined.ts'
import { printable } from '../../format.ts'
import type { Io } from '../../io.ts'
import type { Signer } from '../../publish/signing.ts'

/** What becomes the shadow, by whom and why. */
export interface NewShadow {
  readonly files: readonly PolicyFile[]
  readonly set: PolicySet
  readonly author: string
  readonly message: string
  readonly base: string | undefined
  readonly trust: Trust | undefined
  readonly signer: Signer | undefined
  /** Without asking. */
  readonly yes: boolean
}

/**
 * Makes a policy the shadow, in place of the one that is there. The same policy again changes nothing,
 * so that counting continues, unless it adds a signature that `policy.trust` requires.
 */
export async function storeShadow(
  shadow: NewShadow,
  { store, io }: { readonly store: PolicyStore; readonly io: Io },
): Promise<ShadowHead> {
  const { set, base, trust, signer } = shadow
  const over = await store.shadow.read()
  const document = (await readStored(set.revision, store)) ?? newDocument(shadow)
  const known = over?.head?.revision === set.revision ? over.head : undefined
  if (known !== undefined && !lacksSignature(known, shadow)) {
    io.err(`${set.revision} is already the shadow: counting continues\n`)
    return known
  }
  if (over !== undefined && known === undefined) io.err(formatReplaced(over.head))
  if (!shadow.yes && !(await confirm(set, io))) return decline('not pushed')

  const signed = await sign(document, shadow, known?.signed)
  // A further signature does not change who pushed it, and why.
  const { author, message } = (signed && parseStatement(signed.statement)) ?? shadow
  const head = await store.shadow.push(document, { author, message, base, signed, over })
  if (head === undefined) {
    return decline('refused: the shadow changed meanwhile: run "postern policy shadow"')
  }
  io.err(`${set.revision} is the shadow: only the live policy is enforced\n`)
  const missing = trust && signed && trust.signatures - signedCount(signed, trust)
  if (missing !== undefined && missing > 0 && signer !== undefined) {
    io.err(
      `gateways evaluate it once ${missing} more of policy.trust.keys signed it: others run "postern policy push --shadow ${set.revision} --key FILE"\n`,
    )
  }
  return head
}

function formatReplaced(head: ShadowHead | undefined): string {
  if (head === undefined) return 'replaces a shadow that is not valid\n'
  const { revision, author, message } = head
  return printable(`replaces the shadow ${revision}, pushed by ${author}: ${message}`).concat('\n')
}

/** What was published or evaluated before stays as it is: signatures are about one document. */
async function readStored(
  revision: string,
  store: PolicyStore,
): Promise<PolicyDocument | undefined> {
  try {
    return await store.read(revision)
  } catch (error) {
    // With a cause, Redis itself fails, and not the document in it.
    if (error instanceof Fault && error.cause === undefined) return undefined
    throw error
  }
}

function newDocument({ files, author, message, base }: NewShadow): PolicyDocument {
  return createDocument(files, { author, message, parent: base, now: new Date() })
}

/** Our signature, beside those of others over the same statement. */
async function sign(
  document: PolicyDocument,
  { author, message, signer }: NewShadow,
  stored: Signed | undefined,
): Promise<Signed | undefined> {
  if (signer === undefined) return undefined
  const others = stored !== undefined && isAbout(document, stored) ? stored : undefined
  const parts = { purpose: 'shadow', after: null, author, message, document } as const
  const statement =
    others?.statement ??
    createStatement({ ...parts, now: new Date() }) ??
    decline('refused: author and message are too long together')
  return { statement, signatures: [...(others?.signatures ?? []), await signer.sign(statement)] }
}

/** Redis may have been altered: people must not sign a statement that makes another policy live. */
function isAbout({ revision, checksum }: PolicyDocument, { statement: text }: Signed): boolean {
  const statement = parseStatement(text)
  if (statement?.purpose !== 'shadow') return false
  return statement.revision === revision && statement.document === checksum
}

/** Whether `policy.trust` asks for more signatures, and that of this person is not there yet. */
function lacksSignature({ signed }: ShadowHead, { trust, signer }: NewShadow): boolean {
  if (trust === undefined || signer === undefined) return false
  if (signed === undefined) return true
  const { trusted } = signersOf(signed, 'shadow', trust)
  return trusted.length < trust.signatures && !trusted.some(({ name }) => name === signer.name)
}

function signedCount(signed: Signed, trust: Trust): number {
  return signersOf(signed, 'shadow', trust).trusted.length
}

async function confirm({ revision }: PolicySet, io: Io): Promise<boolean> {
  if (io.isTerminal !== true || io.ask === undefined) {
    return decline(
      'stdin or stderr is not a terminal: review the diff above, then run again with --yes',
    )
  }
  const answer = await io.ask(`Evaluate ${revision} beside the live policy? Type yes: `)
  return /^y(?:es)?$/i.test(answer.trim())
}
