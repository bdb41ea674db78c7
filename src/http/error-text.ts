import type { Fault, Refusal } from '../kernel/errors.ts'
import type { Messages } from '../messages/messages.ts'
import type { RefusalEnvelopes } from './envelope.ts'
import { envelopeOf, extraHeaders } from './reply-error.ts'

/** A refusal or a fault for a person: status, text in a language, and headers such as Retry-After. */
export type ErrorText = (
  error: Refusal | Fault,
  language: string,
) => { readonly status: number; readonly text: string; readonly headers: readonly string[] }

export function createErrorText(refusals: RefusalEnvelopes, messages: Messages): ErrorText {
  return (error, language) => {
    const { status, message } = envelopeOf(error, refusals)
    const { text } = messages.chosenBy(['Accept-Language', language])[message]
    return { status, text, headers: extraHeaders(error) }
  }
}
