import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The folders of `src`: each may import those before it. Loose files are for all. */
const order: readonly string[] = [
  ...[
    'kernel',
    'background',
    'log',
    'metrics',
    'tracing',
    'fleet',
    'h2',
    'wire',
    'signing',
    'token',
    'login',
  ],
  ...['messages', 'policy', 'admission', 'answers', 'replay', 'openapi', 'config'],
  ...['gateway', 'http', 'page', 'stores', 'workers'],
  ...['operations', 'cli', 'console', 'serve', 'main.ts'],
]

/** Commands share the list of operations with the console. */
const upward = ['cli -> console']

/** Single files that their folder's sub-folders import, which may import nothing of the folder. */
const parts: ReadonlySet<string> = new Set([
  ...['h2/error-codes.ts', 'policy/steps.ts', 'stores/second-factor/forget.ts'],
  ...['patterns', 'type', 'setting-builders'].map((name) => `config/schema/${name}.ts`),
  ...['mode', 'issuers', 'login-providers'].map((name) => `config/${name}.ts`),
  ...['reply', 'route/route', 'stages', 'question', 'carriers'].map((name) => `gateway/${name}.ts`),
  ...['console/problem.ts', 'console/headers.ts', 'serve/options.ts'],
])

/** Each library of the outside has one home. */
const homes: Readonly<Record<string, RegExp>> = {
  fastify: /^console\//,
  'openid-client': /^login\/methods\/oidc\//,
  jose: /^token\//,
  casbin: /^policy\/engine\/(?:compile|casbin-engine)\.ts$/,
  ioredis: /^stores\/redis\//,
  kysely: /^stores\//,
  mysql2: /^stores\/database\//,
  pg: /^stores\/database\//,
  '@electric-sql/pglite': /^stores\/embedded\//,
  pino: /^log\/log\.ts$/,
  bcrypt: /^login\/password-(?:hash|worker)\.ts$/,
  'svg-captcha': /^login\//,
  otpauth: /^login\/second-factor\/totp-codes\.ts$/,
  uqr: /^cli\/second-factor\/qr-code\.ts$/,
  typebox: /^config\/schema\//,
  'lru-cache': /^kernel\/lru\.ts$/,
  ldapts: /^login\/methods\/ldap\//,
  bowser: /^stores\/login-log\/user-agent\.ts$/,
  '@prometheus-io/client': /^metrics\/registry\.ts$/,
  '@opentelemetry/api': /^tracing\/sdk-spans\.ts$/,
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

/** The folder of a file, or the file itself where it is a part of its own. */
function partOf(path: string): string {
  return parts.has(path) || !path.includes('/') ? path : dirname(path)
}

/** Every import of another file of ours, with both ends. */
const arrows = sources.flatMap(({ path, imports }) =>
  imports
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from }) => ({ path, to: relative(root, resolve(root, dirname(path), from)) })),
)

/** The nodes that can be reached from themselves. */
function cycles(edges: readonly (readonly [from: string, to: string])[]): readonly string[] {
  const targets = Map.groupBy(edges, ([from]) => from)
  return [...targets.keys()].filter((start) => {
    const seen = new Set<string>()
    const waiting = [start]
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      for (const [, to] of targets.get(node) ?? []) {
        if (to === start) return true
        if (seen.has(to)) continue
        seen.add(to)
        waiting.push(to)
      }
    }
    return false
  })
}

describe('the architecture', () => {
  test('imports in the order of its folders', () => {
    const folderOf = (path: string) => path.split('/', 1)[0] ?? ''
    const place = (path: string) => order.indexOf(folderOf(path))
    const folders = new Set(sources.map(({ path }) => folderOf(path)))
    const backwards = arrows
      .filter(({ path, to }) => place(to) > place(path))
      .map(({ path, to }) => `${folderOf(path)} -> ${folderOf(to)}`)

    expect([...folders].filter((each) => !each.endsWith('.ts') && !order.includes(each))).toEqual(
      [],
    )
    expect([...new Set(backwards)].toSorted()).toEqual(upward)
  })

  test('leaves it to admission which paths are own, removed or canonical', () => {
    const rules = ['kernel/endpoints.ts', 'policy/rule/canonical-path.ts']
    const own = arrows.filter(
      ({ path, to }) => /^(?:gateway|http|serve)\//.test(path) && rules.includes(to),
    )

    // Else the gateway could decide about them otherwise than the commands.
    expect(own).toEqual([])
  })

  test('points in one direction: no cycle of parts, and none of files, types included', () => {
    const edges = arrows.map(({ path, to }) => [partOf(path), partOf(to)] as const)

    expect(cycles(edges.filter(([from, to]) => from !== to))).toEqual([])
    expect(cycles(arrows.map(({ path, to }) => [path, to] as const))).toEqual([])
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

  test('exports nothing that no other file imports', () => {
    const readers = ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.(?:ts|mjs)$/.test(path) && !path.includes('node_modules'))
        .map((path) => join(folder, path)),
    )
    const imported = new Set<string>()
    const loaded = new Set<string>()
    for (const reader of readers) {
      const text = readFileSync(reader, 'utf8')
      const target = (from: string) => relative(root, resolve(dirname(reader), from))
      for (const { groups } of text.matchAll(/(?<names>\{[^{}]*\}) from '(?<from>\.[^']+)'/g)) {
        for (const [name] of groups?.['names']?.matchAll(/\w+/g) ?? []) {
          imported.add(`${target(groups?.['from'] ?? '')} ${name}`)
        }
      }
      for (const [, from = ''] of text.matchAll(/import\('(\.[^']+)'\)/g)) loaded.add(target(from))
    }

    // Other packages import it, as `postern/login`.
    const published = 'login/methods/module/contract.ts'
    const unused = sources
      .filter(({ path }) => !loaded.has(path) && path !== published)
      .flatMap(({ path, text }) =>
        [...text.matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm)]
          .map(([, name]) => `${path} ${name}`)
          .filter((name) => !imported.has(name)),
      )

    expect(unused).toEqual([])
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
    const reading = sources.filter(({ text }) =>
      /(?<![-\w])process\.[a-z]/.test(withoutComments(text)),
    )

    expect(reading.map(({ path }) => path)).toEqual(['main.ts'])
  })

  test('bundles the file of every thread under its own name', () => {
    const threads = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/import\.meta\.url\.replace\([^\n]*, '([-a-z]+)'\)/g)].map(([, name]) =>
        join(dirname(path), `${name}`),
      ),
    )
    const bundle = readFileSync('scripts/bundle.mjs', 'utf8')

    expect(threads.toSorted()).toEqual([
      'login/methods/module/module-worker',
      'login/password-worker',
      'serve/console/command-thread',
      'stores/policies/policy-worker',
    ])
    expect(threads.filter((thread) => !bundle.includes(`'${thread}'`))).toEqual([])
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

  test('catches nothing where deciding returns a value and refusing throws', () => {
    const pure =
      /^(?:admission|answers|metrics|policy\/(?:rule|model|set|import|review|checks|diff|expectations)|gateway\/(?:arrival|headers))\/|^(?:gateway|policy)\/(?!live)[^/]+$/
    const catching = sources.filter(
      ({ path, text }) => pure.test(path) && /\bcatch\b\s*[({]/.test(withoutComments(text)),
    )

    expect(catching.map(({ path }) => path)).toEqual([])
  })
})
