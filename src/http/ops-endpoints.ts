import { versions } from 'node:process'
import type { ReplicaOnHost } from '../fleet/replica-facts.ts'
import { jsonText } from './json-reply.ts'
import { type Readiness, withUpstreams } from './readiness.ts'
import type { UpstreamReport } from './sum-upstreams.ts'

export interface OpsParts {
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

export interface OpsResponse {
  readonly status: number
  readonly contentType: string
  readonly body: string
  /** Unset: no header. */
  readonly cacheControl?: string
}

type OpsEndpoint = (query: URLSearchParams) => OpsResponse | Promise<OpsResponse>

/** How long clients may cache the keys: a new key must be published this long before it signs. */
const jwksSeconds = 60

/** What the ops port responds to a GET, by path. Nothing here changes anything. */
export function createOpsEndpoints(parts: OpsParts): ReadonlyMap<string, OpsEndpoint> {
  const { version, mode, readiness, metrics, upstreams, replicas, publicKeys } = parts
  return new Map<string, OpsEndpoint>([
    ['/healthz', () => jsonResponse(200, { status: 'alive' })],
    ['/version', () => jsonResponse(200, { version, mode, node: versions.node })],
    [
      '/metrics',
      async () => ({ status: 200, contentType: metrics.contentType, body: await metrics.text() }),
    ],
    [
      '/readyz',
      async (query) => {
        const own = await readiness(query.has('verbose'))
        const needed = query.getAll('upstream')
        const verdict = needed.length === 0 ? own : withUpstreams(own, needed, await upstreams())
        return jsonResponse(verdict.ready ? 200 : 503, verdict)
      },
    ],
    ['/upstreams', async () => jsonResponse(200, { upstreams: await upstreams() })],
    ['/replicas', async () => jsonResponse(200, { replicas: await replicas() })],
    // RFC 7517 5. Never a shared secret.
    [
      '/.well-known/jwks.json',
      async () => {
        const keys = await publicKeys()
        // An empty set would make clients forget the keys they know.
        if (keys === undefined) return jsonResponse(503, { code: 503, msg: 'not known just now' })
        return {
          ...jsonResponse(200, { keys }),
          contentType: 'application/jwk-set+json',
          cacheControl: `public, max-age=${jwksSeconds}`,
        }
      },
    ],
  ])
}

export function jsonResponse(status: number, body: object): OpsResponse {
  return { status, contentType: 'application/json; charset=utf-8', body: jsonText(body) }
}
