import type { Check } from '../gateway/check.ts'
import type { Messages } from '../messages/messages.ts'
import { statusEnvelopes } from './envelope.ts'
import type { Handling } from './handling.ts'
import { createErrorReplies, createErrorResponses } from './reply-error.ts'

interface ForwardAuthParts {
  readonly check: Check
  readonly messages: Messages
  readonly stallTimeoutMs: number
}

/**
 * The forward-auth port responds with a real status, since proxies look at nothing else, and with the
 * identity headers. Parser, limits, log line and metrics are those of the public port.
 */
export function createForwardAuthHandling({ check, ...parts }: ForwardAuthParts): Handling {
  return {
    ...parts,
    replyError: createErrorReplies(createErrorResponses(statusEnvelopes, parts.messages)),
    async pass(forwardAuth, reply) {
      const headers = await check(forwardAuth)
      reply.writeHead(200, ['Content-Length', '0', 'Cache-Control', 'no-store', ...headers])
      reply.end()
    },
  }
}
