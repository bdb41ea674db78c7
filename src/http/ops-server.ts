import { createServer, type IncomingMessage, type Server } from 'node:http'
import {
  createOpsEndpoints,
  jsonResponse,
  type OpsParts,
  type OpsResponse,
} from './ops-endpoints.ts'

/** Longer than most scrape intervals: a new connection for each would be expensive. */
const keepAliveMs = 72_000

/** The port for operators: read-only, and nothing of it is on the public port. */
export function createOpsServer(parts: OpsParts): Server {
  const endpoints = createOpsEndpoints(parts)

  async function respond({ method, url = '' }: IncomingMessage): Promise<OpsResponse> {
    const [path = '', query] = splitTarget(url)
    const endpoint = method === 'GET' || method === 'HEAD' ? endpoints.get(path) : undefined
    if (endpoint === undefined) return jsonResponse(404, { code: 404, msg: 'not found' })
    return endpoint(new URLSearchParams(query))
  }

  const server = createServer(
    { requestTimeout: 5_000, keepAliveTimeout: keepAliveMs },
    async (request, reply) => {
      const { status, contentType, cacheControl, body } = await respond(request).catch(failure)
      reply.writeHead(status, {
        'Content-Type': contentType,
        'Content-Length': Buffer.byteLength(body),
        ...(cacheControl !== undefined && { 'Cache-Control': cacheControl }),
      })
      reply.end(body)
    },
  )
  return server.setTimeout(30_000)
}

/** Closes the listener and every connection. */
export async function closeOpsServer(server: Server): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()))
  server.closeAllConnections()
  await closed
}

function splitTarget(target: string): readonly [string, string] {
  const at = target.indexOf('?')
  return at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

/** Operators may read what went wrong. */
function failure(error: unknown): OpsResponse {
  return jsonResponse(500, {
    code: 500,
    msg: error instanceof Error ? error.message : String(error),
  })
}
