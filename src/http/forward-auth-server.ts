import type { Server } from 'node:http'
import type { Check } from '../gateway/check.ts'
import { statusEnvelopes } from './envelope.ts'
import { createPublicServer, type PublicServerParts } from './public-server.ts'

interface ForwardAuthParts
  extends Omit<PublicServerParts, 'pass' | 'refusals' | 'mark' | 'upgrades' | 'tls'> {
  readonly check: Check
}

/**
 * The port on which other proxies ask. An answer is a real 200, 401, 403 or other status, for a
 * proxy looks at nothing else; who calls stands in its headers. The same parser, limits, log line
 * and metrics as on the public port.
 */
export function createForwardAuthServer({ check, ...parts }: ForwardAuthParts): Server {
  return createPublicServer({
    ...parts,
    refusals: statusEnvelopes,
    upgrades: [],
    async pass(question, reply) {
      const headers = await check(question)
      reply.writeHead(200, ['Content-Length', '0', 'Cache-Control', 'no-store', ...headers])
      reply.end()
    },
  })
}
