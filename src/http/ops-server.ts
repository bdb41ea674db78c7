import { versions } from 'node:process'
import fastify, { type FastifyInstance } from 'fastify'
import type { ReplicaOnHost } from '../fleet/replica-facts.ts'
import { type Readiness, withUpstreams } from './readiness.ts'
import type { UpstreamReport } from './sum-upstreams.ts'

export interface OpsServerParts {
  readonly version: string
  readonly mode: string
  readonly readiness: (verbose: boolean) => Readiness | Promise<Readiness>
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
  /** State and load of every target, of all workers together. */
  readonly upstreams: () => readonly UpstreamReport[] | Promise<readonly UpstreamReport[]>
  /** What each process of this gateway reports of itself. */
  readonly replicas: () => readonly ReplicaOnHost[] | Promise<readonly ReplicaOnHost[]>
  /** The public keys that verify our tokens, for services that check them too. */
  readonly publicKeys: () => readonly object[] | Promise<readonly object[] | undefined>
}

/** How long clients may cache the keys: a new key must be published this long before it signs. */
const jwksSeconds = 60

/** No route here has a schema, and to load their compilers would be a good part of loading fastify. */
const noCompilers = { buildValidator: withoutSchemas, buildSerializer: withoutSchemas }

function withoutSchemas(): never {
  throw new Error('the ops port has no schemas')
}

/** The port for operators: read-only, and nothing of it is on the public port. */
export function createOpsServer({
  version,
  mode,
  readiness,
  metrics,
  upstreams,
  replicas,
  publicKeys,
}: OpsServerParts): FastifyInstance {
  const server = fastify({
    logger: false,
    requestTimeout: 5_000,
    connectionTimeout: 30_000,
    forceCloseConnections: true,
    schemaController: { compilersFactory: noCompilers },
  })

  server.get('/healthz', async () => ({ status: 'alive' }))

  server.get('/version', async () => ({ version, mode, node: versions.node }))

  server.get('/metrics', async (_, reply) => {
    reply.type(metrics.contentType)
    return metrics.text()
  })

  server.get('/readyz', async (request, reply) => {
    const query = request.query as Readonly<Record<string, string | readonly string[]>>
    const own = await readiness(Object.hasOwn(query, 'verbose'))
    const needed = [query['upstream'] ?? []].flat()
    const verdict = needed.length === 0 ? own : withUpstreams(own, needed, await upstreams())
    reply.code(verdict.ready ? 200 : 503)
    return verdict
  })

  server.get('/upstreams', async () => ({ upstreams: await upstreams() }))

  server.get('/replicas', async () => ({ replicas: await replicas() }))

  // RFC 7517 5. Never a shared secret.
  server.get('/.well-known/jwks.json', async (_, reply) => {
    const keys = await publicKeys()
    // An empty set would make clients forget the keys they know.
    if (keys === undefined) return reply.code(503).send({ code: 503, msg: 'not known just now' })
    reply.header('Cache-Control', `public, max-age=${jwksSeconds}`)
    reply.type('application/jwk-set+json')
    return JSON.stringify({ keys })
  })

  server.setNotFoundHandler((_, reply) => reply.code(404).send({ code: 404, msg: 'not found' }))
  return server
}
