import type { Reply } from '../gateway/reply.ts'
import type { Received } from '../gateway/stages.ts'
import { readBody } from '../http/read-body.ts'
import { Refusal } from '../kernel/errors.ts'
import { type BadRequest, Fields } from '../login/fields.ts'
import { type PageAddress, readAddress } from './address.ts'
import type { Frame } from './layout.ts'
import { headerOf } from './navigation.ts'
import type { PageParts } from './parts.ts'

/** A few short fields need less. */
const maxFormBytes = 16_384

type Settings = PageParts['settings']

export function addressOf({ query, arrival }: Received, settings: Settings): PageAddress {
  return readAddress(query, headerOf(arrival.rawHeaders, 'accept-language') ?? '', settings)
}

export function frameOf(received: Received, { settings, logo }: PageParts): Frame {
  const { path, title } = settings
  const address = addressOf(received, settings)
  return { path, viewPath: received.call.path, address, title, hasLogo: logo !== undefined }
}

/** Reads the body now, and its fields when they are needed. What is no HTML form is refused as `kind`. */
export async function readForm(
  { arrival, headers }: Received,
  reply: Reply,
  kind: BadRequest,
): Promise<() => Fields> {
  const tooLarge = Number(headers.contentLength ?? 0) > maxFormBytes
  if (headers.expectsContinue && !tooLarge) reply.writeContinue()
  const bytes = tooLarge ? undefined : await readBody(arrival.body, maxFormBytes)
  // The rest of a body would be read as the next request.
  if (bytes === undefined) reply.shouldKeepAlive = false
  return () => {
    const type = headers.contentType ?? ''
    if (!/^application\/x-www-form-urlencoded(?:; ?charset=utf-8)?$/i.test(type)) {
      throw new Refusal(kind, { reason: 'the content type is not a form' })
    }
    if (bytes === undefined) {
      throw new Refusal(kind, { reason: 'the body is too large, or was cut short' })
    }
    return new Fields(kind, new URLSearchParams(bytes.toString('latin1')))
  }
}
