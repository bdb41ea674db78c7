import type { Reply } from '../gateway/reply.ts'
import type { Received } from '../gateway/stages.ts'
import { readBody } from '../http/read-body.ts'
import type { BadRequest, Fields } from '../login/fields.ts'
import { type PageAddress, readAddress } from './address.ts'
import { readFormFields } from './form-fields.ts'
import type { Frame } from './layout.ts'
import { headerOf } from './navigation.ts'

/** A few short fields need less. */
const maxFormBytes = 16_384

export function addressOf({ query, arrival }: Received): PageAddress {
  return readAddress(query, headerOf(arrival.rawHeaders, 'accept-language') ?? '')
}

export function frameOf(
  received: Received,
  settings: { readonly path: string; readonly title?: string | undefined },
  hasLogo: boolean,
): Frame {
  const { path, title } = settings
  return { path, viewPath: received.call.path, address: addressOf(received), title, hasLogo }
}

/** Reads the body now, and its fields when they are needed. */
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
  return () => readFormFields({ contentType: headers.contentType, bytes }, kind)
}
