import { Refusal } from '../kernel/errors.ts'
import { isRecord } from '../kernel/json.ts'
import { type BadRequest, Fields } from './fields.ts'

/** The unvalidated body of a request to one of our endpoints. */
export interface JsonBody {
  readonly contentType: string | undefined
  /** `undefined` when the body was too large or incomplete. */
  readonly bytes: Uint8Array | undefined
}

/** The members of a JSON object. Everything else is refused as `kind`. */
export function readJsonFields({ contentType, bytes }: JsonBody, kind: BadRequest): Fields {
  if (!isJson(contentType)) {
    throw new Refusal(kind, { reason: 'the content type is not application/json' })
  }
  if (bytes === undefined) {
    throw new Refusal(kind, { reason: 'the body is too large, or was cut short' })
  }
  return parseJsonFields(bytes, kind)
}

function parseJsonFields(bytes: Uint8Array, kind: BadRequest): Fields {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new Refusal(kind, { reason: 'the body is not JSON' })
  }
  if (!isRecord(value)) {
    throw new Refusal(kind, { reason: 'the body is not a JSON object' })
  }
  return new Fields(kind, Object.entries(value))
}

/** One type, exactly: odd content types have made servers skip their checks (CVE-2026-25223). */
function isJson(contentType: string | undefined): boolean {
  return /^application\/json(?:; ?charset=utf-8)?$/i.test(contentType ?? '')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
