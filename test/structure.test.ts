import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Which folder may import which, besides itself and `errors.ts`. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'errors.ts': [],
  'version.ts': [],
  'closing.ts': [],
  'endpoints.ts': [],
  'acting-headers.ts': [],
  'json-line.ts': [],
  'log.ts': ['json-line.ts'],
  'log-destination.ts': [],
  'log-text.ts': ['log.ts'],
  'line-file.ts': [],
  'thread-priority.ts': [],
  'recently-used.ts': [],
  'suggest.ts': [],
  'database-url.ts': [],
  config: ['suggest.ts', 'acting-headers.ts', 'database-url.ts'],
  token: ['recently-used.ts'],
  policy: ['suggest.ts'],
  // Pure: what the configuration and a policy together say about a call.
  admission: ['policy'],
  metrics: [],
  wire: [],
  tracing: [],
  login: ['token', 'log.ts', 'thread-priority.ts'],
  gateway: [
    'token',
    'policy',
    'admission',
    'tracing',
    'wire',
    'recently-used.ts',
    'acting-headers.ts',
  ],
  stores: ['policy', 'token', 'login', 'database-url.ts', 'thread-priority.ts', 'recently-used.ts'],
  http: ['gateway', 'wire', 'login', 'policy', 'metrics', 'tracing', 'log.ts', 'json-line.ts'],
  // Knows processes and what they say to each other, and of a gateway only what its ops port shows.
  workers: ['config', 'http', 'metrics', 'log.ts'],
  cli: ['policy', 'admission', 'stores', 'config', 'token', 'login'],
  serve: ['*'],
  'serve.ts': ['*'],
  // The composition root of several processes: everything but a gateway, which is the workers'.
  'supervise.ts': [
    'config',
    'http',
    'metrics',
    'serve',
    'serve.ts',
    'workers',
    'closing.ts',
    'log.ts',
    'version.ts',
  ],
  'main.ts': ['*'],
}

/** Each library of the outside has one home. */
const homes: Readonly<Record<string, RegExp>> = {
  fastify: /^http\//,
  jose: /^token\//,
  casbin: /^policy\/(?:compile|casbin-engine)\.ts$/,
  ioredis: /^stores\//,
  kysely: /^stores\//,
  pg: /^stores\//,
  '@electric-sql/pglite': /^stores\//,
  pino: /^log\.ts$/,
  bcrypt: /^login\/password-(?:hash|worker)\.ts$/,
  'svg-captcha': /^login\//,
  typebox: /^config\//,
  'lru-cache': /^recently-used\.ts$/,
  bowser: /^stores\/user-agent\.ts$/,
  '@prometheus-io/client': /^metrics\/registry\.ts$/,
  '@opentelemetry/api': /^tracing\/spans\.ts$/,
}

interface Source {
  readonly path: string
  readonly text: string
  readonly imports: readonly { readonly from: string; readonly typeOnly: boolean }[]
}

const root = resolve('src')
const sources: Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const statements = text.matchAll(/^(?:import|export)(?<what>[^'"]*?)from '(?<from>[^']+)'/gms)
    const dynamic = text.matchAll(/import\('(?<from>[^']+)'\)/g)
    const imports = [...statements, ...dynamic].map(({ groups }) => ({
      from: groups?.['from'] ?? '',
      typeOnly: /^ type\b/.test(groups?.['what'] ?? ''),
    }))
    return { path, text, imports }
  })

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
}

function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : path
}

describe('the architecture', () => {
  test('has no import that its table does not allow', () => {
    const foreign = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ from }) => from.startsWith('.'))
        .map(({ from }) => folderOf(relative(root, resolve(root, dirname(path), from))))
        .filter((target) => {
          const own = folderOf(path)
          const allowed = mayImport[own] ?? []
          return (
            target !== own &&
            target !== 'errors.ts' &&
            target !== 'endpoints.ts' &&
            !allowed.includes('*') &&
            !allowed.includes(target)
          )
        })
        .map((target) => `${path} -> ${target}`),
    )

    expect(foreign).toEqual([])
  })

  test('keeps each library of the outside in its home', () => {
    const strays = sources.flatMap(({ path, imports }) =>
      imports.flatMap(({ from }) => {
        const library = Object.keys(homes).find(
          (name) => from === name || from.startsWith(`${name}/`),
        )
        return library !== undefined && !homes[library]?.test(path) ? [`${path} -> ${from}`] : []
      }),
    )

    expect(strays).toEqual([])
  })

  test('lets stores see only the types of login', () => {
    const values = sources
      .filter(({ path }) => path.startsWith('stores/'))
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ from, typeOnly }) => from.includes('/login/') && !typeOnly)
          .map(({ from }) => `${path} -> ${from}`),
      )

    expect(values).toEqual([])
  })

  test('has no barrel and no drawer', () => {
    const drawers = sources.filter(({ path }) =>
      /(?:^|\/)(?:index|utils?|helpers?|common|misc|types)\.ts$/.test(path),
    )

    expect(drawers.map(({ path }) => path)).toEqual([])
  })

  test('compares with dev in one file only', () => {
    const comparing = sources.filter(({ text }) => /['"`]dev['"`]/.test(text))

    expect(comparing.map(({ path }) => path)).toEqual(['config/mode.ts'])
  })

  test('reads the process in main.ts only', () => {
    const reading = sources.filter(({ text }) => /\bprocess\.[a-z]/.test(withoutComments(text)))

    expect(reading.map(({ path }) => path)).toEqual(['main.ts'])
  })

  test('makes each stage in its own file only', () => {
    const made = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\bas (Received|Identified|Authorized)\b/g)].map(
        ([, stage]) => `${stage} in ${path}`,
      ),
    )

    expect([...new Set(made)].sort()).toEqual([
      'Authorized in gateway/authorize.ts',
      'Identified in gateway/identify.ts',
      'Received in gateway/receive.ts',
    ])
  })

  test('catches in the few files that turn failures into answers', () => {
    const allowed = [
      /^http\//,
      /^token\/(?:tokens|compact-form|inspect|keys|key-file|key-set)\.ts$/,
      /^stores\//,
      /^policy\/(?:live|compile)\.ts$/,
      /^gateway\/(?:addresses|admit-exchange|relay-response|still-allowed)\.ts$/,
      /^wire\/(?:connection|peer-closed)\.ts$/,
      /^login\/(?:login|login-log|login-request)\.ts$/,
      /^config\//,
      /^cli\//,
      /^workers\/place\.ts$/,
      /^tracing\/tracing\.ts$/,
      /^(?:main|serve|closing|log-destination|line-file|thread-priority)\.ts$/,
      /^serve\/(?:life|describe-error)\.ts$/,
    ]
    const catching = sources.filter(({ text }) => /\bcatch\b\s*[({]/.test(withoutComments(text)))

    expect(
      catching.map(({ path }) => path).filter((path) => !allowed.some((one) => one.test(path))),
    ).toEqual([])
  })
})
