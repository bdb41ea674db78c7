import type { Arrival } from '../gateway/arrival/arrival.ts'
import type { Reply } from '../gateway/reply.ts'
import type { Messages } from '../messages/messages.ts'
import type { RedirectOf } from './redirect-reply.ts'
import type { ReplyError } from './reply-error.ts'

/**
 * How a port handles requests under one configuration. Each request takes the current one when it
 * begins and keeps it to its end, so that a reload never serves it with parts of two configurations.
 */
export interface Handling {
  readonly pass: (arrival: Arrival, reply: Reply) => Promise<void> | void
  readonly replyError: ReplyError
  /** Adds headers to the response of a request that never enters the pipeline. */
  readonly mark?: (arrival: Arrival, reply: Reply) => void
  /** Where a browser goes that was refused, such as the login page. Unset: it gets the refusal. */
  readonly redirectOf?: RedirectOf | undefined
  readonly messages: Messages
  /** How long a client may leave its complete response unread. */
  readonly stallTimeoutMs: number
}
