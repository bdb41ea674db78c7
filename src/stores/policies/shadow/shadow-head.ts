import { hasStrings, readJson } from '../../../kernel/json.ts'
import { parseStatement, readSigned } from '../../../signing/statement.ts'
import { isSequence } from '../../latest-time.ts'
import { isRevision } from '../document/policy-document.ts'

/** The policy that gateways evaluate beside the live one. */
export type ShadowHead = NonNullable<ReturnType<typeof parseShadowHead>>

const maxLength = 256 * 1024
const maxAuthor = 256
const maxMessage = 4096

/** Parses the value of `policy:shadow`; `undefined` when it is invalid. */
export function parseShadowHead(text: string) {
  if (text.length > maxLength) return undefined
  const value = readJson(text)
  if (!hasStrings(value, ['revision', 'author', 'message'])) return undefined
  const { revision, sequence } = value
  if (!isRevision(revision) || !isSequence(sequence)) return undefined
  const signed = readSigned(value['signed'])
  // Gateways with policy.trust load it only if this was signed; what is beside it, anyone can change.
  const { author, message } = parseStatement(signed?.statement ?? '') ?? value
  const { base } = value
  return {
    revision,
    /** When it was pushed, by the clock of Redis, in ms; a later shadow has a higher one. */
    sequence,
    author: String(author).slice(0, maxAuthor),
    message: String(message).slice(0, maxMessage),
    /** The live revision that its files come from. */
    ...(isRevision(base) && { base }),
    ...(signed !== undefined && { signed }),
  }
}
