/** What was signed, as exact text, and the signatures over it. Not verified. */
export interface Signed {
  readonly statement: string
  readonly signatures: readonly string[]
}

const maxStatementLength = 16 * 1024
const maxSignatures = 32
const maxSignatureLength = 4 * 1024

/** Reads what Redis or a file has; `undefined` for anything else, and for what is too large. */
export function readSigned(value: unknown): Signed | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { statement, signatures } = value as Readonly<Record<string, unknown>>
  const isText = (each: unknown, most: number): each is string =>
    typeof each === 'string' && each.length <= most
  if (!isText(statement, maxStatementLength) || !Array.isArray(signatures)) return undefined
  if (signatures.length > maxSignatures) return undefined
  if (!signatures.every((each) => isText(each, maxSignatureLength))) return undefined
  return { statement, signatures }
}
