import { describe, expect, test } from 'vitest'
import { startBehind, usual, whyNot } from '../support/behind-proxy.ts'
import type { PosternOptions } from '../support/start-postern.ts'

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
  const runs = test.skipIf(leftOut.get(proxy) !== undefined)

  runs('no hostile header arrives, in any spelling, with a caller and without one', async () => {
    const callers = await attack(proxy, reserved, identity)

    // Who calls is not lost either.
    const known = callers.map(({ values }) =>
      identity.slice(0, 2).map((name) => values(name).join()),
    )
    expect(known.filter(([id, role]) => id !== '42' || role !== 'editor')).toEqual([])
  })

  runs('nor one of a preset, with what docs/claims.md has readers add', async () => {
    const callers = await attack(proxy, remote, remote, (sample) => withRemote[proxy](sample), {
      ...usual,
      config: { headers: { preset: 'authelia' } },
    })

    expect(callers.flatMap(({ values }) => values('Remote-User'))).toEqual(
      callers.map(() => 'editor-user'),
    )
  })
})

const remote = ['Remote-User', 'Remote-Name', 'Remote-Email', 'Remote-Groups']

const inEnvoy = remote.map((name) => `{ exact: ${name.toLowerCase()} }`).join(', ')
const variables = remote.map((name) => [name, name.toLowerCase().replace('-', '_')] as const)
const withRemote: Readonly<Record<(typeof proxies)[number], (sample: string) => string>> = {
  nginx: (sample) =>
    sample
      .replace(
        '        auth_request_set $postern_user_id ',
        (line) =>
          variables
            .map(([, name]) => `auth_request_set $${name}_name $upstream_http_${name};\n`)
            .join('') + line,
      )
      .replace(
        '        proxy_set_header X-User-Id ',
        (line) =>
          variables
            .map(([header, name]) => `proxy_set_header ${header} $${name}_name;\n`)
            .join('') + line,
      ),
  caddy: (sample) =>
    sample
      .replace('\t\trequest_header -X-Postern-*\n', '$&\t\trequest_header -Remote-*\n')
      .replace('copy_headers ', `$&${remote.join(' ')} `),
  traefik: (sample) => sample.replace(', Authorization]', `, ${remote.join(', ')}$&`),
  envoy: (sample) => sample.replace('[{ exact: x-user-id }', `[${inEnvoy}, { exact: x-user-id }`),
  'envoy-grpc': (sample) => sample,
}

/** Sends each of these headers in each spelling. Returns the requests of a known caller that arrived. */
async function attack(
  proxy: (typeof proxies)[number],
  names: readonly string[],
  own: readonly string[],
  change?: (sample: string) => string,
  options?: PosternOptions,
) {
  const { backend, call } = await startBehind(proxy, change, options)
  const sent = [
    ...names.flatMap((name) => casesOf(name, spellings)),
    ...own.flatMap((name) => casesOf(name, metadata)),
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
  // Refused, or forwarded without it, and some of both.
  expect([...statuses.keys()].filter((status) => status !== 200 && status !== 400)).toEqual([])
  const callers = arrived.filter(({ target }) => target.startsWith('/api'))
  expect(callers.length).toBeGreaterThan(names.length)
  return callers
}

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
