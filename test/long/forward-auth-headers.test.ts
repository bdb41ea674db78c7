import { describe, expect, test } from 'vitest'
import { startBehind, whyNot } from '../support/behind-proxy.ts'

const proxies = ['nginx', 'caddy', 'traefik', 'envoy', 'envoy-grpc'] as const
const leftOut = new Map(proxies.map((name) => [name, whyNot(name)]))
for (const [name, why] of leftOut) {
  if (why !== undefined) console.warn(`left out: hostile headers behind ${name}; ${why}`)
}

const identity = [
  ...['X-User-Id', 'X-Role-Key', 'X-Data-Scope', 'X-User-Name', 'X-Role-Id'],
  'X-Postern-Assertion',
]

/** Headers that a service may believe or act on, and that no client may set. */
const reserved = [
  ...identity,
  ...['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Port'],
  ...['X-Forwarded-Prefix', 'X-Forwarded-Uri', 'X-Forwarded-Method', 'X-Forwarded-Server'],
  ...['X-Forwarded-Scheme', 'X-Forwarded-Ssl', 'X-Forwarded-User', 'X-Forwarded-Client-Cert'],
  ...['X-Real-IP', 'X-Client-IP', 'True-Client-IP', 'CF-Connecting-IP', 'X-Cluster-Client-IP'],
  ...['X-Original-URL', 'X-Original-URI', 'X-Original-Method', 'X-Original-Host'],
  ...['X-Original-Forwarded-For', 'X-Rewrite-URL', 'X-Rewrite-URI'],
  ...['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', 'Proxy'],
  ...['X-Accel-Mapping', 'X-Accel-Redirect', 'X-Sendfile-Type', 'X-Middleware-Subrequest'],
  ...['X-Middleware-Rewrite', 'X-Envoy-Original-Path', 'X-Envoy-Max-Retries'],
]

const value = 'hostile'

/** The lines with which a client sends one header. */
const spellings: Readonly<Record<string, (name: string) => readonly string[]>> = {
  'as it is': (name) => [`${name}: ${value}`],
  'in lower case': (name) => [`${name.toLowerCase()}: ${value}`],
  'in upper case': (name) => [`${name.toUpperCase()}: ${value}`],
  'with underscores': (name) => [`${name.replaceAll('-', '_')}: ${value}`],
  'with one underscore': (name) => [`${name.replace('-', '_')}: ${value}`],
  'with a last underscore': (name) => [`${name.replace(/-(?=[^-]*$)/, '_')}: ${value}`],
  'with dots': (name) => [`${name.replaceAll('-', '.')}: ${value}`],
  twice: (name) => [`${name}: ${value}`, `${name.toLowerCase()}: ${value}`],
  'listed in Connection': (name) => [`${name}: ${value}`, `Connection: close, ${name}`],
  'beside itself in underscores': (name) => [
    `${name}: ${value}`,
    `${name.replaceAll('-', '_')}: ${value}`,
  ],
}

/** Forms of one's identity that gRPC and grpc-gateway know. */
const metadata: Readonly<Record<string, (name: string) => readonly string[]>> = {
  'as binary metadata': (name) => [`${name}-Bin: ${value}`],
  'as binary metadata with underscores': (name) => [`${name.replaceAll('-', '_')}_bin: ${value}`],
  'as metadata of grpc-gateway': (name) => [`Grpc-Metadata-${name}: ${value}`],
}

describe.each(proxies)('behind a real %s', (proxy) => {
  test.skipIf(leftOut.get(proxy) !== undefined)(
    'no hostile header arrives, in any spelling, with a caller and without one',
    async () => {
      const { backend, call } = await startBehind(proxy)
      const sent = [
        ...reserved.flatMap((name) => casesOf(name, spellings)),
        ...identity.flatMap((name) => casesOf(name, metadata)),
      ]
      const start = backend.requests.length
      const statuses = new Map<number, number>()

      // The name of the case is in the query, where no decision depends on it.
      await eachOf(sent, 8, async ({ name, how, headers }) => {
        const about = encodeURIComponent(`${name} ${how}`)
        const answers = [
          await call(`GET /open/a?${about}`, { headers }),
          await call(`GET /api/v1/public/a?${about}`, { headers, as: 'editor' }),
        ]
        for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      })

      const arrived = backend.requests.slice(start)
      const leaks = arrived.flatMap(({ target, headers }) =>
        headers
          .filter(([, text]) => text.includes(value))
          .map(([name, text]) => `${decodeURIComponent(target)}: ${name}: ${text}`),
      )
      expect(leaks).toEqual([])
      // Who calls is not lost either.
      const callers = arrived
        .filter(({ target }) => target.startsWith('/api'))
        .map(({ values }) => identity.slice(0, 2).map((name) => values(name).join()))
      expect(callers.filter(([id, role]) => id !== '42' || role !== 'editor')).toEqual([])
      // Refused, or forwarded without it, and some of both.
      expect([...statuses.keys()].filter((status) => status !== 200 && status !== 400)).toEqual([])
      expect(callers.length).toBeGreaterThan(reserved.length)
    },
  )
})

function casesOf(name: string, forms: typeof spellings) {
  return Object.entries(forms).map(([how, write]) => ({ name, how, headers: write(name) }))
}

/** At most `width` at a time. */
async function eachOf<T>(all: readonly T[], width: number, run: (one: T) => Promise<void>) {
  const rest = [...all]
  const work = async () => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await run(one)
  }
  await Promise.all(Array.from({ length: width }, work))
}
