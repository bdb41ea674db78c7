import { Refusal } from '../kernel/errors.ts'
import { type BadRequest, Fields } from '../login/fields.ts'

interface FormBody {
  readonly contentType: string | undefined
  /** `undefined` when the body was too large or incomplete. */
  readonly bytes: Uint8Array | undefined
}

/** The fields of an HTML form. Everything else is refused as `kind`. */
export function readFormFields({ contentType, bytes }: FormBody, kind: BadRequest): Fields {
  if (!/^application\/x-www-form-urlencoded(?:; ?charset=utf-8)?$/i.test(contentType ?? '')) {
    throw new Refusal(kind, { reason: 'the content type is not that of a form' })
  }
  if (bytes === undefined) {
    throw new Refusal(kind, { reason: 'the body is too large, or was cut short' })
  }
  return new Fields(kind, new URLSearchParams(Buffer.from(bytes).toString('latin1')))
}
