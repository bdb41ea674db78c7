import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

/**
 * Which part may import which, besides itself and what all may import. A part is a folder without its
 * sub-folders, or a single file; `policy/` with a slash stands for a folder and all that is in it.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'untraced-error.ts': [],
  'errors.ts': ['untraced-error.ts'],
  'endpoints.ts': [],
  'version.ts': [],
  'closing.ts': [],
  'back-off.ts': [],
  'control-headers.ts': [],
  'reserved-headers.ts': ['control-headers.ts'],
  'thread-priority.ts': [],
  'lru.ts': [],
  'suggest.ts': [],
  'database-url.ts': [],
  'mysql-url.ts': [],
  'key-url.ts': [],
  'data-scope.ts': ['suggest.ts'],
  log: [],
  metrics: [],
  // Pure: what gateways say of themselves to those who watch.
  fleet: [],
  'metrics/config': ['metrics'],
  'metrics/providers': ['metrics'],
  'metrics/policy': ['metrics'],
  // Pure: the HTTP/2 protocol of both sides, apart from sockets.
  'h2/error-codes.ts': [],
  'h2/hpack': ['h2/error-codes.ts'],
  h2: ['h2/error-codes.ts', 'h2/hpack', 'untraced-error.ts'],
  wire: [],
  // HTTP/2 to upstreams.
  'wire/h2': ['h2', 'h2/error-codes.ts', 'wire'],
  tracing: [],
  // Exports spans to a collector; loaded only with tracing.otlp.
  'tracing/otlp': ['tracing'],

  messages: ['login/passwords', 'lru.ts'],

  'config/schema/patterns.ts': [],
  'config/schema/type.ts': [],
  'config/schema/setting-builders.ts': ['config/schema/patterns.ts', 'config/schema/type.ts'],
  'config/schema/forwarding': [
    'config/schema/patterns.ts',
    'config/schema/setting-builders.ts',
    'config/schema/type.ts',
  ],
  'config/schema/login': [
    'config/schema/patterns.ts',
    'config/schema/setting-builders.ts',
    'config/schema/type.ts',
  ],
  'config/schema': ['config/schema/', 'data-scope.ts'],
  'config/mode.ts': ['config/schema'],
  'config/issuers.ts': ['config/schema', 'data-scope.ts'],
  'config/login-providers.ts': ['config/schema'],
  'config/reading': ['config/schema', 'config/schema/patterns.ts', 'suggest.ts'],
  'config/checks/forwarding': [
    'config/schema',
    'config/reading',
    'admission',
    'suggest.ts',
    'control-headers.ts',
    'reserved-headers.ts',
  ],
  'config/checks': [
    'config/checks/forwarding',
    'config/schema',
    'config/mode.ts',
    'config/issuers.ts',
    'config/reading',
    'admission',
    'suggest.ts',
    'database-url.ts',
    'mysql-url.ts',
    'key-url.ts',
    'messages',
  ],
  'config/reload': ['config/schema', 'config/reading', 'config/checks'],
  config: ['config/schema', 'config/reading', 'config/checks'],

  // What single claims of a token say.
  'token/claim': [],
  token: ['token/claim', 'lru.ts'],
  // Tokens of other issuers.
  'token/issuers': ['token', 'token/claim', 'data-scope.ts'],

  // What leaves the process and comes back unread.
  'token/sealing': ['token'],

  // Pure: keys, signatures and what is signed. Knows nothing of policies but their names.
  signing: [],

  'policy/steps.ts': [],
  'policy/rule': [],
  'policy/model': ['policy/rule'],
  'policy/set': ['policy/steps.ts', 'policy/rule', 'policy/model', 'suggest.ts'],
  'policy/engine/tables': [],
  'policy/engine': [
    'policy/engine/tables',
    'policy/steps.ts',
    'policy/rule',
    'policy/model',
    'policy/set',
  ],
  policy: ['policy/engine'],
  // What gateways count of a policy, and by which key.
  'policy/usage': ['policy/rule', 'policy/engine'],
  'policy/shadow': [],
  'policy/import': ['policy/steps.ts', 'policy/model', 'policy/set'],
  'policy/review': ['policy/rule', 'policy/model', 'policy/set'],
  'policy/diff': ['policy/steps.ts', 'policy/rule', 'policy/model', 'policy/set', 'policy/review'],
  'policy/checks': [
    'policy/steps.ts',
    'policy/rule',
    'policy/model',
    'policy/set',
    'policy/review',
    'suggest.ts',
  ],
  'policy/expectations': [
    'policy/steps.ts',
    'policy/rule',
    'policy/set',
    'policy/engine',
    'policy/review',
  ],

  // Pure: what the configuration and a policy together say about a call.
  admission: ['policy', 'policy/rule', 'policy/engine'],

  // Knows files and documents, and nothing of policies.
  openapi: ['suggest.ts'],

  // Pure: what people ask about a policy and the configuration together.
  answers: ['admission', 'policy/'],
  'answers/usage': ['answers', 'admission', 'policy/'],
  'answers/coverage': ['admission', 'policy/', 'suggest.ts'],

  // Asks a policy again what decision logs record.
  replay: ['policy', 'policy/engine', 'policy/rule'],

  'login/passwords': [],
  'login/lockouts': ['log'],
  'login/captcha': ['token'],
  'login/second-factor': ['token', 'log'],
  login: ['login/passwords', 'login/lockouts', 'token', 'log', 'thread-priority.ts'],
  // Runs code of the operator in a thread of its own.
  'login/module': ['login', 'log', 'back-off.ts', 'suggest.ts', 'thread-priority.ts'],

  // What a directory says about a person.
  'login/ldap': ['login'],
  // OpenID Connect, except for what openid-client does.
  'login/oidc': ['login', 'token/claim', 'token/issuers', 'token/sealing'],

  // What is known about one server, whatever the settings.
  'gateway/upstream/state': ['wire'],
  'gateway/upstream': ['gateway/upstream/state', 'wire', 'wire/h2'],
  'gateway/reply.ts': [],
  'gateway/arrival': [
    'policy',
    'token',
    'tracing',
    'wire',
    'control-headers.ts',
    'reserved-headers.ts',
  ],
  'gateway/route/route.ts': ['admission', 'gateway/arrival', 'gateway/upstream'],
  'gateway/stages.ts': [
    'gateway/arrival',
    'gateway/route/route.ts',
    'admission',
    'policy',
    'token',
  ],
  'gateway/question.ts': ['gateway/stages.ts', 'policy'],
  'gateway/route': [
    'gateway/route/route.ts',
    'gateway/stages.ts',
    'gateway/headers',
    'gateway/upstream',
    'admission',
    'lru.ts',
  ],
  'gateway/carriers.ts': ['gateway/arrival', 'gateway/stages.ts'],
  'gateway/headers': [
    'gateway/arrival',
    'gateway/route/route.ts',
    'gateway/stages.ts',
    'gateway/carriers.ts',
    'token',
    'wire',
    'reserved-headers.ts',
  ],
  'gateway/exchange': [
    'gateway/upstream',
    'gateway/reply.ts',
    'gateway/arrival',
    'gateway/stages.ts',
    'gateway/question.ts',
    'gateway/headers',
    'policy',
    'policy/engine',
    'token',
    'wire',
  ],
  'gateway/shadow': [
    'gateway/stages.ts',
    'gateway/question.ts',
    'policy',
    'policy/engine',
    'policy/shadow',
  ],
  gateway: ['gateway/', 'admission', 'policy', 'policy/engine', 'token', 'tracing', 'wire'],
  // What the gateway records of decisions.
  'gateway/evidence': [
    'fleet',
    'gateway',
    'gateway/stages.ts',
    'gateway/question.ts',
    'admission',
    'policy',
    'policy/rule',
    'policy/usage',
  ],

  stores: [],
  'stores/redis': ['stores'],
  'stores/files': [],
  'stores/feed': [],
  'stores/git': [],
  'stores/embedded': ['stores/files'],
  'stores/database/mysql': [],
  'stores/database': [
    'stores/database/mysql',
    'stores/embedded',
    'database-url.ts',
    'mysql-url.ts',
  ],
  'stores/policies/document': ['stores', 'stores/redis', 'policy/set', 'signing'],
  'stores/policies/replicas': [
    'fleet',
    'stores',
    'stores/redis',
    'stores/policies/document',
    'signing',
  ],
  'stores/policies/proposals': [
    'stores',
    'stores/redis',
    'stores/policies/document',
    'stores/policies/replicas',
    'signing',
  ],
  'stores/policies/shadow': [
    'stores',
    'stores/redis',
    'stores/feed',
    'stores/policies/document',
    'policy/engine',
    'policy/shadow',
    'signing',
  ],
  'stores/policies/moves': [
    'stores/audit',
    'stores/database',
    'stores/feed',
    'stores/policies/document',
    'signing',
  ],
  // Knows another product's table, and keeps a policy up to date with it.
  'stores/policies/follow': [
    'stores/database',
    'stores/feed',
    'stores/files',
    'stores/policies',
    'policy/import',
    'policy/model',
    'policy/set',
  ],
  'stores/policies': [
    'fleet',
    'stores',
    'stores/redis',
    'stores/database',
    'stores/feed',
    'stores/files',
    'stores/policies/document',
    'stores/policies/replicas',
    'stores/policies/proposals',
    'stores/policies/shadow',
    'policy/',
    'signing',
    'thread-priority.ts',
  ],
  'stores/revocations': [
    'stores',
    'stores/redis',
    'stores/database',
    'stores/feed',
    'stores/files',
    'stores/audit',
    'token',
  ],
  'stores/sessions': ['stores', 'stores/redis', 'stores/database', 'stores/feed', 'token'],
  'stores/audit': ['stores', 'stores/database', 'stores/feed'],
  'stores/accounts': [
    'stores',
    'stores/audit',
    'stores/database',
    'stores/files',
    'stores/second-factor/forget.ts',
    'login',
    'data-scope.ts',
  ],
  // People whom another system vouches for.
  'stores/identities': ['stores/accounts', 'stores/audit', 'stores/database', 'login', 'token'],
  'stores/services': ['stores/accounts', 'stores/audit', 'stores/database', 'token'],
  'stores/second-factor/forget.ts': ['stores/database'],
  'stores/second-factor': [
    'stores/second-factor/forget.ts',
    'stores/accounts',
    'stores/audit',
    'stores/database',
    'login/second-factor',
  ],
  'stores/login-log': ['stores', 'stores/redis', 'stores/database', 'stores/feed', 'login'],
  'stores/usage': [
    'stores',
    'stores/redis',
    'stores/database',
    'stores/feed',
    'policy/engine',
    'policy/usage',
  ],
  'stores/limits': [
    'stores/redis',
    'stores/database',
    'stores/audit',
    'login',
    'login/captcha',
    'login/lockouts',
    'lru.ts',
  ],
  'stores/keys': ['stores/feed', 'stores/files', 'signing', 'token'],
  'stores/ldap': ['stores', 'stores/feed', 'login/ldap'],
  // OpenID Connect providers.
  'stores/oidc': [
    'stores/accounts',
    'stores/database',
    'stores/feed',
    'stores/issuers',
    'stores/keys',
    'login/oidc',
    'token/issuers',
    'key-url.ts',
  ],
  'stores/issuers': ['stores/feed', 'stores/keys', 'token/issuers', 'key-url.ts'],

  'http/connections': ['gateway/reply.ts', 'gateway/arrival', 'login', 'metrics', 'log', 'wire'],
  'http/port': ['http/connections', 'log'],
  'http/plain': ['http/connections', 'http/port', 'gateway/reply.ts', 'wire'],
  // Connections of HTTP/2.
  'http/h2': [
    'http/connections',
    'http/port',
    'gateway/reply.ts',
    'gateway/arrival',
    'h2',
    'h2/error-codes.ts',
    'wire',
  ],
  // How refusals of gRPC calls look.
  'http/grpc': ['http', 'gateway/arrival', 'gateway/reply.ts'],
  // The port that other proxies ask, over HTTP and Envoy's gRPC.
  'http/forward-auth': [
    'http',
    'http/grpc',
    'gateway',
    'gateway/arrival',
    'gateway/reply.ts',
    'messages',
  ],
  'http/oidc': [
    'http',
    'admission',
    'gateway',
    'gateway/reply.ts',
    'gateway/stages.ts',
    'gateway/carriers.ts',
    'login',
    'login/oidc',
  ],
  http: [
    'fleet',
    'http/',
    'gateway/',
    'login',
    'login/captcha',
    'messages',
    'metrics',
    'tracing',
    'log',
  ],

  // The login page: HTML over the same login as the API.
  'page/texts': [],
  page: [
    'page/texts',
    'admission',
    'gateway/',
    'http',
    'login',
    'login/captcha',
    'messages',
    'token',
  ],

  // Who may use the console: sessions, roles, login, and what a browser must not do.
  'console/problem.ts': [],
  'console/headers.ts': [],
  'console/access': [
    'console/problem.ts',
    'gateway',
    'gateway/carriers.ts',
    'gateway/arrival',
    'http/connections',
    'http/oidc',
    'login',
    'login/captcha',
    'login/oidc',
    'token',
    'token/sealing',
    'lru.ts',
  ],
  // The commands over HTTP.
  'console/api': [
    'cli',
    'console/access',
    'console/problem.ts',
    'console/stores',
    'suggest.ts',
    'version.ts',
  ],
  // What commands that the console runs share.
  'console/stores': [
    'cli',
    'lru.ts',
    'policy/engine',
    'policy/set',
    'stores/database',
    'stores/redis',
  ],
  // Streams of what gateways do.
  'console/live': ['console/access', 'console/headers.ts', 'console/problem.ts', 'fleet'],
  console: [
    'console/problem.ts',
    'console/headers.ts',
    'console/access',
    'http',
    'log',
    'messages',
  ],

  // Knows processes and what they say to each other, and of a gateway only what its ops port shows.
  workers: ['fleet', 'config/schema', 'config/checks', 'http', 'metrics', 'log', 'back-off.ts'],

  cli: [
    'admission',
    'config',
    'config/schema',
    'policy/engine',
    'policy/set',
    'signing',
    'stores/audit',
    'stores/database',
    'stores/keys',
    'stores/policies',
    'stores/policies/follow',
    'stores/redis',
    'suggest.ts',
  ],
  // The commands of one word.
  'cli/program': [
    'cli',
    'config',
    'config/schema',
    'serve',
    'serve/options.ts',
    'serve/ports',
    'serve/reload',
    'serve/console',
    'console/api',
    'console/stores',
    'cli/fleet',
    'workers',
    'version.ts',
  ],
  // Asks the ops listener of a running gateway.
  'cli/running': ['cli', 'config', 'config/schema', 'http'],
  // Every running gateway.
  'cli/fleet': ['cli', 'cli/running', 'fleet', 'stores/policies', 'stores/policies/proposals'],
  // Knows nothing of policies: commands hand it plain data.
  'cli/report': ['cli', 'version.ts'],
  'cli/policy': ['cli', 'cli/report', 'answers', 'admission', 'policy/', 'signing', 'stores/'],
  // What a policy and the configuration together answer.
  'cli/questions': [
    'cli',
    'cli/questions/csv',
    'cli/policy',
    'cli/accounts',
    'cli/tokens',
    'admission',
    'answers',
    'policy/',
    'stores/accounts',
    'stores/database',
    'stores/services',
    'token',
    'suggest.ts',
  ],
  // The answers as rows of a spreadsheet.
  'cli/questions/csv': ['cli', 'admission', 'answers', 'policy/review', 'policy/rule'],
  'cli/questions/matrix': [
    'cli',
    'cli/questions',
    'cli/questions/csv',
    'cli/questions/names',
    'answers',
  ],
  'cli/questions/files': ['cli', 'cli/policy', 'cli/questions', 'policy/set', 'stores/policies'],
  'cli/questions/names': ['cli', 'cli/questions', 'answers', 'openapi'],
  'cli/questions/coverage': [
    'cli',
    'cli/policy',
    'cli/report',
    'cli/questions',
    'admission',
    'answers/coverage',
    'openapi',
    'policy/review',
  ],
  // What gateways counted.
  'cli/evidence/usage': [
    'cli',
    'cli/policy',
    'cli/publish',
    'cli/questions',
    'answers/usage',
    'policy/',
    'stores/usage',
  ],
  'cli/evidence/replay': ['cli', 'cli/policy', 'cli/questions', 'cli/report', 'policy/', 'replay'],
  'cli/publish': [
    'cli',
    'fleet',
    'cli/policy',
    'cli/evidence/replay',
    'replay',
    'answers',
    'admission',
    'policy/',
    'signing',
    'stores/',
  ],
  // Publishes what another product's table says, without a person.
  'cli/follow': ['cli', 'cli/policy', 'cli/publish', 'answers', 'policy/import', 'stores/'],
  // What several people publish together.
  'cli/approval': [
    'cli',
    'cli/policy',
    'cli/publish',
    'cli/evidence/replay',
    'admission',
    'policy/set',
    'signing',
    'stores/',
  ],
  'cli/evidence/shadow': [
    'cli',
    'cli/policy',
    'cli/publish',
    'cli/approval',
    'policy/',
    'signing',
    'stores/',
  ],
  'cli/tokens': ['cli', 'config/', 'stores/', 'token/', 'suggest.ts'],
  'cli/audit': ['cli', 'stores/audit', 'stores/database', 'suggest.ts'],
  'cli/logins': [
    'cli',
    'cli/tokens',
    'config/mode.ts',
    'login',
    'login/captcha',
    'login/lockouts',
    'stores/',
    'token',
    'suggest.ts',
  ],
  'cli/sessions': [
    'cli',
    'cli/logins',
    'cli/tokens',
    'config/mode.ts',
    'stores/',
    'token',
    'suggest.ts',
  ],
  'cli/accounts': [
    'cli',
    'cli/tokens',
    'cli/logins',
    'cli/sessions',
    'config/',
    'login',
    'login/passwords',
    'login/second-factor',
    'messages',
    'stores/',
    'token/',
    'data-scope.ts',
  ],
  'cli/second-factor': [
    'cli',
    'cli/accounts',
    'cli/tokens',
    'login/second-factor',
    'stores/',
    'token',
    'suggest.ts',
  ],
  // Links of accounts to people of other systems.
  'cli/identities': ['cli', 'cli/tokens', 'config/', 'stores/', 'suggest.ts'],
  'cli/roles': [
    'cli',
    'cli/tokens',
    'cli/accounts',
    'stores/accounts',
    'stores/database',
    'data-scope.ts',
  ],
  // Accounts of programs, and their tokens.
  'cli/services': ['cli', 'cli/tokens', 'stores/', 'token', 'suggest.ts'],
  'cli/completion': ['cli'],
  'cli/manual': ['cli', 'version.ts'],
  // What a new project is made of.
  'cli/init/templates': ['cli'],
  'cli/init': [
    'cli',
    'cli/accounts',
    'cli/init/templates',
    'cli/roles',
    'config',
    'config/schema',
    'login',
    'stores/accounts',
    'token',
  ],
  'cli/keys': ['cli', 'config/', 'signing', 'stores/keys', 'token'],
  'cli/config': [
    'openapi',
    'cli',
    'admission',
    'config/',
    'login/module',
    'page',
    'policy',
    'policy/engine',
    'stores/files',
    'stores/issuers',
    'stores/keys',
    'stores/policies',
    'token',
  ],
  // Whether a gateway would start and work: asks what the gateway would open.
  'cli/doctor': [
    'cli',
    'fleet',
    'cli/policy',
    'policy/',
    'cli/config',
    'cli/running',
    'config/',
    'console',
    'gateway/upstream',
    'serve/ports',
    'stores/',
    'tracing/otlp',
    'wire',
    'workers',
    'database-url.ts',
    'mysql-url.ts',
    'version.ts',
  ],
  // Commands that a console runs, and the login there.
  'cli/remote': [
    'cli',
    'cli/policy',
    'cli/publish',
    'cli/approval',
    'console/api',
    'gateway/carriers.ts',
    'policy/set',
    'signing',
    'stores/policies/proposals',
    'version.ts',
  ],
  'cli/commands': ['cli/', 'console/api', 'console/stores', 'suggest.ts', 'thread-priority.ts'],

  // The composition roots.
  'serve/options.ts': ['config/schema', 'fleet', 'log', 'login', 'stores/accounts', 'workers'],
  'serve/records': [
    'admission',
    'fleet',
    'answers',
    'config',
    'config/schema',
    'gateway',
    'login',
    'serve/options.ts',
    'closing.ts',
    'metrics',
    'metrics/policy',
    'stores/',
  ],
  'serve/login': [
    'config/schema',
    'serve/options.ts',
    'serve/records',
    'closing.ts',
    'config/schema',
    'gateway',
    'http',
    'http/oidc',
    'log',
    'login/',
    'messages',
    'metrics',
    'metrics/providers',
    'page',
    'config/schema',
    'stores/',
    'token',
    'token/issuers',
    'suggest.ts',
    'token/sealing',
  ],
  'serve/reload': [
    'config',
    'config/reload',
    'config/schema',
    'log',
    'serve/options.ts',
    'stores/feed',
  ],
  'serve/gateway': ['*'],
  'serve/console': ['*'],
  'serve/ports': ['*'],
  serve: ['*'],
  'main.ts': ['*'],
}

const forAll = ['errors.ts', 'endpoints.ts']

/** Each library of the outside has one home. */
const homes: Readonly<Record<string, RegExp>> = {
  fastify: /^console\//,
  'openid-client': /^stores\/oidc\//,
  jose: /^token\//,
  casbin: /^policy\/engine\/(?:compile|casbin-engine)\.ts$/,
  ioredis: /^stores\/redis\//,
  kysely: /^stores\//,
  pg: /^stores\/database\//,
  '@electric-sql/pglite': /^stores\/embedded\//,
  pino: /^log\/log\.ts$/,
  bcrypt: /^login\/password-(?:hash|worker)\.ts$/,
  'svg-captcha': /^login\//,
  otpauth: /^login\/second-factor\/totp-codes\.ts$/,
  uqr: /^cli\/second-factor\/qr-code\.ts$/,
  typebox: /^config\/schema\//,
  'lru-cache': /^lru\.ts$/,
  ldapts: /^stores\/ldap\//,
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

/** The row that a file belongs to: its own, or that of its folder. */
function partOf(path: string): string {
  return path in mayImport || !path.includes('/') ? path : dirname(path)
}

/** Every import of another file of ours, with both ends. */
const arrows = sources.flatMap(({ path, imports }) =>
  imports
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from }) => ({ path, to: relative(root, resolve(root, dirname(path), from)) })),
)

function covers(allowance: string, part: string): boolean {
  if (allowance === '*') return true
  return allowance.endsWith('/') ? `${part}/`.startsWith(allowance) : allowance === part
}

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
  test('has a row for every folder and file at the top', () => {
    const parts = new Set(sources.map(({ path }) => partOf(path)))

    expect(Object.keys(mayImport).toSorted()).toEqual([...parts].toSorted())
  })

  test('has no import that its table does not allow', () => {
    const foreign = arrows.filter(({ path, to }) => {
      const [own, target] = [partOf(path), partOf(to)]
      const allowed = [...forAll, ...(mayImport[own] ?? [])]
      return target !== own && !allowed.some((allowance) => covers(allowance, target))
    })

    expect(foreign.map(({ path, to }) => `${path} -> ${to}`)).toEqual([])
  })

  test('leaves it to admission which paths are own, removed or canonical', () => {
    const rules = ['endpoints.ts', 'policy/rule/canonical-path.ts']
    const own = arrows.filter(
      ({ path, to }) => /^(?:gateway|http|serve)\//.test(path) && rules.includes(to),
    )

    // Else the gateway could decide about them otherwise than the commands.
    expect(own).toEqual([])
  })

  test('has no allowance that nothing uses', () => {
    const unused = Object.entries(mayImport).flatMap(([own, allowances]) => {
      const targets = arrows.filter(({ path }) => partOf(path) === own).map(({ to }) => partOf(to))
      return allowances
        .filter((allowance) => !targets.some((target) => covers(allowance, target)))
        .map((allowance) => `${own} -> ${allowance}`)
    })

    expect(unused).toEqual([])
  })

  test('points in one direction: no cycle of parts, and none of files, types included', () => {
    const parts = arrows.map(({ path, to }) => [partOf(path), partOf(to)] as const)

    expect(cycles(parts.filter(([from, to]) => from !== to))).toEqual([])
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
    const published = 'login/module/contract.ts'
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
      'cli/commands/command-thread',
      'login/module/module-worker',
      'login/password-worker',
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
