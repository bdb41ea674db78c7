import { versions } from 'node:process'
import fastify, { type FastifyInstance } from 'fastify'

/** One thing that must hold before traffic should come here. */
export interface ReadinessCheck {
  readonly name: string
  /** `undefined` when all is well, else a few words on what is not. */
  readonly problem: () => string | undefined
}

export interface OpsServerParts {
  readonly version: string
  readonly mode: string
  readonly revision: () => string | undefined
  readonly checks: readonly ReadinessCheck[]
  /** What `/readyz?verbose` shows besides, by name. */
  readonly details?: Readonly<Record<string, () => unknown>>
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
  /** The public keys that verify our tokens, for services that check them a second time. */
  readonly publicKeys: () => readonly object[]
}

/** How long others may go on with the keys they know: a new one must be out that long before it signs. */
const jwksSeconds = 60

/** The operators' port: nothing here is on the public one, and nothing here changes anything. */
export function createOpsServer({
  version,
  mode,
  revision,
  checks,
  details = {},
  metrics,
  publicKeys,
}: OpsServerParts): FastifyInstance {
  const server = fastify({
    logger: false,
    requestTimeout: 5_000,
    connectionTimeout: 30_000,
    forceCloseConnections: true,
  })

  server.get('/healthz', async () => ({ status: 'alive' }))

  server.get('/version', async () => ({ version, mode, node: versions.node }))

  server.get('/metrics', async (_, reply) => {
    reply.type(metrics.contentType)
    return metrics.text()
  })

  server.get('/readyz', async (request, reply) => {
    const problems = checks.flatMap(({ name, problem }) => {
      const text = problem()
      return text === undefined ? [] : [{ name, problem: text }]
    })
    reply.code(problems.length === 0 ? 200 : 503)
    const verdict = { ready: problems.length === 0, revision: revision() ?? null, problems }
    const verbose = Object.hasOwn(request.query as object, 'verbose')
    return verbose ? { ...verdict, ...inFull(details) } : verdict
  })

  // RFC 7517 5. A shared secret is not among them.
  server.get('/.well-known/jwks.json', async (_, reply) => {
    reply.header('Cache-Control', `public, max-age=${jwksSeconds}`)
    reply.type('application/jwk-set+json')
    return JSON.stringify({ keys: publicKeys() })
  })

  server.setNotFoundHandler((_, reply) => reply.code(404).send({ code: 404, msg: 'not found' }))
  return server
}

function inFull(details: Readonly<Record<string, () => unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).map(([name, read]) => [name, read()]))
}
