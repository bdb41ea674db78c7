import { isRecord } from '../kernel/json.ts'

/** The parts of a token in its one valid spelling. */
export type CompactToken = NonNullable<ReturnType<typeof parseCompactForm>>

/**
 * Reads the compact form (RFC 7515 7.1) in its one strict spelling, before any library sees it:
 * three non-empty base64url parts without padding, without white space, without stray trailing
 * bits, and a JSON object as header. The signature cache and the revocation list rely on one spelling
 * for each token. Returns `undefined` for everything else.
 */
export function parseCompactForm(text: string, maxBytes: number) {
  if (text.length > maxBytes) return undefined
  const match = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(text)
  if (match === null) return undefined

  const [, headerPart = '', payloadPart = '', signaturePart = ''] = match
  const header = parseObject(strictBase64url(headerPart))
  const payload = strictBase64url(payloadPart)
  if (header === undefined || payload === undefined) return undefined
  if (strictBase64url(signaturePart) === undefined) return undefined

  // The signature covers the first two parts and the dot between them.
  return { header, payload, signingInput: `${headerPart}.${payloadPart}` }
}

/** Parses UTF-8 JSON text that must be an object; `undefined` when it is anything else. */
export function parseObject(
  bytes: Uint8Array | undefined,
  reviver?: Reviver,
): Readonly<Record<string, unknown>> | undefined {
  if (bytes === undefined) return undefined
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes), reviver as (key: string) => unknown)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** With the source text of the value: in the runtime (V8 11.4), not yet in the type library. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Re-encoding finds stray trailing bits, which decoders ignore. */
function strictBase64url(part: string): Uint8Array | undefined {
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : undefined
}

/** A reviver that keeps whole numbers as text where a double would round them. */
export function keepExact(_: string, value: unknown, { source }: { source?: string }): unknown {
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value)
  return isRounded && source !== undefined && /^\d+$/.test(source) ? source : value
}
