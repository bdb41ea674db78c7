import type { Server } from 'node:http'
import type { Check } from '../gateway/check.ts'
import { statusEnvelopes } from './envelope.ts'
import { createPublicServer, type PublicServerParts } from './public-server.ts'

interface ForwardAuthParts
  extends Omit<PublicServerParts, 'pass' | 'refusals' | 'mark' | 'upgrades' | 'tls'> {
  readonly check: Check
}

/**
 * The forward-auth port. It responds with a real status, since proxies look at nothing else, and with
 * the identity headers. Parser, limits, log line and metrics are those of the public port.
 */
export function createForwardAuthServer({ check, ...parts }: ForwardAuthParts): Server {
  return createPublicServer({
    ...parts,
    refusals: statusEnvelopes,
    upgrades: [],
    async pass(forwardAuth, reply) {
      const headers = await check(forwardAuth)
      reply.writeHead(200, ['Content-Length', '0', 'Cache-Control', 'no-store', ...headers])
      reply.end()
    },
  })
}
