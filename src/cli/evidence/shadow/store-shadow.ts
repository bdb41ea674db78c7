import { Fault } from '../../../errors.ts'
import { decline } from '../../../operations/declined.ts'
import type { PolicyFile, PolicySet } from '../../../policy/set/policy-set.ts'
import { parseStatement } from '../../../signing/statement.ts'
import type { Trust } from '../../../signing/trust.ts'
import {
  createDocument,
  type PolicyDocument,
  type PolicyStore,
} from '../../../stores/policies/policy-store.ts'
import type { ShadowHead } from '../../../stores/policies/shadow/shadow-head.ts'
import { isConfirmed, reviewFirst } from '../../confirm.ts'
import { printable } from '../../format.ts'
import type { Io } from '../../io.ts'
import type { Signer } from '../../publish/signing.ts'
import { addSignature, lacksSignature, signedCount, toSign } from './shadow-signatures.ts'

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
  if (known !== undefined && !lacksSignature(document, known, shadow)) {
    io.err(`${set.revision} is already the shadow: counting continues\n`)
    return known
  }
  if (over !== undefined && known === undefined) io.err(formatReplaced(over.head))
  const unsigned = signer && toSign(document, shadow, known?.signed)
  // A further signature does not change who pushed it, and why.
  const { author, message } = (unsigned && parseStatement(unsigned.statement)) ?? shadow
  if (signer !== undefined) {
    const what = `${signer.name} signs for the shadow ${set.revision}, pushed by ${author}: ${message}`
    io.err(printable(what).concat('\n'))
  }
  const question = `Evaluate ${set.revision} beside the live policy?`
  if (!shadow.yes && !(await isConfirmed(question, reviewFirst('diff'), io))) {
    return decline('not pushed')
  }

  const signed = unsigned && signer && (await addSignature(unsigned, signer))
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
