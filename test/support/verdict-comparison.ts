import { METHODS } from 'node:http'
import fc from 'fast-check'
import { expect } from 'vitest'
import { stringify } from 'yaml'
import { forwardAuthRefusal } from '../../src/admission/forward-auth.ts'
import type { Access, AccessRoute } from '../../src/admission/routes.ts'
import {
  type Admission,
  createAdmission,
  evaluate,
  evaluateUnidentified,
  type TokenProblem,
  type Verdict,
} from '../../src/admission/verdict.ts'
import { statusEnvelopes } from '../../src/http/envelope.ts'
import { type CompiledPolicies, compile } from '../../src/policy/engine/compile.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { readPolicyFiles } from '../../src/stores/policies/policy-files.ts'
import { policies as policiesOf, shippedModel, widestModel } from '../policy/policy-text.ts'
import { askAbout, asked } from './forward-auth.ts'
import { type CallOptions, linesOf, startPostern, type TestPostern } from './start-postern.ts'
import { forge, nowSeconds, tokenOf } from './tokens.ts'
import { until } from './until.ts'

const routePaths = ['/', '/a', '/a/b', '/files', '/old', '/api/v1/orders', '/api/v1/user', '/api']
const route = fc
  .record({
    path: fc.constantFrom(...routePaths),
    access: fc.constantFrom<Access>('permitted', 'permitted', 'authenticated', 'public'),
    replacePrefix: fc.constantFrom(undefined, undefined, undefined, '/', '/api/v1', '/a'),
    allow: fc.constantFrom(
      undefined,
      undefined,
      { encodedSlash: true, semicolon: false },
      { encodedSlash: true, semicolon: true },
    ),
    match: fc.constantFrom(undefined, undefined, undefined, 'exact' as const),
    hosts: fc.constantFrom(undefined, undefined, undefined, ['api.example.com'], ['*.example.com']),
    methods: fc.constantFrom(undefined, undefined, undefined, ['GET'], ['PUT', 'POST']),
  })
  .map(({ path, access, replacePrefix, allow, match, hosts, methods }) => ({
    ...{ path, upstream: 'backend', access },
    ...(access === 'public' && { reason: 'for a test' }),
    ...(replacePrefix !== undefined && { replacePrefix }),
    ...(allow !== undefined && { allow: { ...allow } }),
    ...(match !== undefined && { match }),
    ...(hosts !== undefined && { hosts: [...hosts] }),
    ...(methods !== undefined && { methods: [...methods] }),
  }))

const patterns = ['/a', '/a/*', '/a/:x', '/files/*', '/api/v1/orders/:id', '/api/v1/user/*', '/*']
const rule = fc.tuple(
  fc.constantFrom('clerk', 'viewer', 'lead'),
  fc.constantFrom(...patterns),
  fc.constantFrom('GET', 'PUT', '*'),
)

const withSuperuser = formatModel(shippedModel).replace(/^m = .*$/m, '$& || r.sub == "head"')
const allowing = rule.map((fields) => fields.join(', '))

/**
 * Rules of the shipped model, the same with a superuser, or rules that allow and deny and roles that
 * inherit others.
 */
const policy = fc.oneof(
  fc.record({ rules: fc.array(allowing, { maxLength: 5 }) }),
  fc.record({
    model: fc.constant(withSuperuser),
    rules: fc.array(allowing, { minLength: 1, maxLength: 5 }),
  }),
  fc.record({
    model: fc.constant(formatModel(widestModel)),
    rules: fc.array(
      fc
        .tuple(rule, fc.constantFrom('allow', 'allow', 'deny'))
        .map(([fields, effect]) => [...fields, effect].join(', ')),
      { minLength: 1, maxLength: 6 },
    ),
    inheritances: fc.subarray(['clerk, viewer', 'lead, clerk', 'head, lead']),
  }),
)

/** Two routes with the same place in the order of precedence are not valid. */
function placeOf({ path, match, hosts, methods }: AccessRoute): string {
  return JSON.stringify([path, match, hosts, methods])
}

/** Routes, rules, exclusions and own endpoints at random. */
const configuration = fc.record({
  routes: fc.uniqueArray(route, { selector: placeOf, maxLength: 6 }),
  policy,
  exclusions: fc.subarray([
    { method: 'GET', path: '/a/b', reason: 'for a test' },
    { method: 'PUT', path: '/api/v1/orders/:id', reason: 'for a test' },
    { method: 'GET', path: '/api/v1/user/profile', reason: 'for a test' },
  ]),
  logout: fc.constantFrom('gateway', 'backend'),
  profile: fc.constantFrom('gateway', 'backend'),
  password: fc.constantFrom('gateway', 'backend'),
  alias: fc.boolean(),
})

const servedPaths = ['/', '/a', '/a/b', '/a/b/c', '/ab', '/A', '/a/', '/nowhere', '/files/x']
const oddPaths = [
  ...['*', '/a//b', '/a/../b', '/a/%2e%2e/b', '/files/x%2Fy', '/files/x;y', '/files;x/y', '/a%2Fb'],
  ...['/files/%37', '/a/\\b', '/a/%C3%A9', '/a/%FF'],
  ...['/a?x=1', '/a?x=1#y', '/a/b?x="', '/?', `/a/${'x'.repeat(300)}`, `/a?${'x'.repeat(300)}`],
]
const ownPaths = [
  ...['/old', '/old/x', '/old/login', '/old/refresh_token', '/api/v1/orders/7'],
  ...['/api/v1/login', '/api/v1/Login', '/api/v1/login/', '/api/v1/getCaptcha'],
  ...['/api/v1/captcha', '/api/v1/logout', '/api/v1/logout/', '/api/v1/user/profile'],
  ...['/api/v1/user/password', '/api/v1/user/password', '/api/v1/user/password/'],
  ...['/api/v1/user/other', '/api/v1/refresh_token', '/api/v1/REFRESH_TOKEN/', '/api%2Fv1%2Flogin'],
]

const call = fc.record({
  roleKey: fc.constantFrom('clerk', 'viewer', 'lead', 'head', 'admin', 'Admin'),
  method: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.constantFrom('GET', 'GET', 'PUT', 'POST', 'POST', 'OPTIONS', 'DELETE'),
    },
    { weight: 1, arbitrary: fc.constantFrom('TRACE', 'CONNECT', 'FOO', 'get') },
  ),
  path: fc.oneof(
    fc.constantFrom(...servedPaths),
    fc.constantFrom(...oddPaths),
    fc.constantFrom(...ownPaths),
  ),
  host: fc.constantFrom(
    'gateway.test',
    'api.example.com',
    'API.example.com.:80',
    'a.b.example.com',
  ),
})

type Question = Parameters<typeof evaluate>[0] & { readonly host: string }

/** What the gateway did, by its answer, its log line and what reached the upstream. */
interface Observed {
  readonly status: number
  readonly outcome?: string
  readonly step?: string
  readonly route?: string
  readonly forwarded: boolean
}

async function observe(
  gateway: TestPostern,
  { method, path, host }: Question,
  sender: CallOptions,
): Promise<Observed> {
  const before = gateway.upstream.requests.length
  const seen = gateway.logText().length
  const { status } = await gateway.call(`${method} ${path}`, { ...sender, host })
  const forwarded = () => gateway.upstream.requests.length > before
  // The parser answers, and no request is logged.
  if (method === 'CONNECT') {
    return { status, outcome: 'method-not-allowed', forwarded: forwarded() }
  }
  if (!METHODS.includes(method)) return { status, forwarded: forwarded() }
  let text = ''
  await until(() => {
    text = gateway.logText().slice(seen)
    return text.includes('"msg":"request"')
  })
  const [request] = text.split('\n').filter((each) => each.includes('"msg":"request"'))
  return { status, ...JSON.parse(request ?? ''), forwarded: forwarded() }
}

/** What the gateway has to do with a request of which the verdict is this. */
function expected({ allowed, refusal, isUnserved, endpoint, decision, path }: Verdict) {
  const steps = decision === undefined ? {} : { step: decision.step }
  if (refusal === 'unknown-method') return { status: 400, forwarded: false }
  if (refusal === 'method-not-allowed') return { status: 405, outcome: refusal, forwarded: false }
  if (refusal !== undefined) return { outcome: refusal, forwarded: false }
  if (!allowed) return { outcome: 'not-permitted', ...steps, forwarded: false }
  if (isUnserved) return { outcome: 'no-such-route', ...steps, route: 'none', forwarded: false }
  if (endpoint !== undefined && endpoint.upstream === undefined) {
    return { outcome: answered[path ?? ''] ?? 'passed', forwarded: false }
  }
  return { outcome: 'passed', forwarded: true }
}

/** What the gateway says itself to a login without a body, and to a caller who has no account. */
const answered: Readonly<Record<string, string>> = {
  '/api/v1/login': 'bad-login-request',
  '/api/v1/user/profile': 'token-revoked',
  '/api/v1/user/password': 'bad-password-request',
}

/** Senders whom the gateway does not identify, one after the other. */
const strangers: readonly (readonly [TokenProblem, () => CallOptions])[] = [
  ['token-missing', () => ({})],
  ['token-expired', () => ({ token: tokenOf('admin', { exp: nowSeconds() - 1 }) })],
  ['token-missing', () => ({})],
  ['token-invalid', () => ({ token: forge({ secret: 'another secret, as long as it must be' }) })],
  ['token-too-long-lived', () => ({ token: tokenOf('admin', { exp: nowSeconds() + 1e9 }) })],
]

/** The status with which forward-auth has to answer the proxy. */
function expectedByProxy({ path }: Question, verdict: Verdict): number {
  const { allowed, refusal, need } = verdict
  const own = need === undefined ? undefined : forwardAuthRefusal(path, verdict)
  const kind = own?.refusal ?? refusal ?? (allowed ? undefined : 'not-permitted')
  if (kind === undefined) return 200
  return kind === 'unknown-method' ? 400 : statusEnvelopes[kind].status
}

/** What one gateway is started with, and the calls that it gets. */
export type Comparison = ReturnType<typeof comparisons>[number]

/** Random configurations and policies, each with random calls; the same ones for the same seed. */
export function comparisons(count: number, callsEach: number, seed: number) {
  const calls = fc.array(call, { minLength: callsEach, maxLength: callsEach })
  return fc
    .sample(fc.tuple(configuration, calls), { numRuns: count, seed })
    .map(([settings, questions], at) => ({ at, settings, calls: questions }))
}

/** Every kind of verdict that the calls of these comparisons get. */
export function kindsIn(all: readonly Comparison[]): ReadonlySet<string> {
  const kinds = all.flatMap(({ settings, calls }) => {
    const { policy: written, exclusions } = settings
    const lines = linesOf(written)
    const modelText = 'model' in written ? { modelText: written.model } : {}
    const policies = policiesOf({ ...modelText, lines, exclusions: stringify(exclusions) })
    const admission = admissionOf(settings)
    return calls.flatMap((question) => {
      const verdict = evaluate(question, admission, policies)
      const { step, refusal, isUnserved, route, endpoint, decision } = verdict
      return [
        refusal ?? step,
        ...(isUnserved ? ['no route'] : []),
        ...(endpoint?.upstream === undefined ? [] : [`delegated ${endpoint.name}`]),
        ...(route?.access === undefined ? [] : [route.access]),
        ...(route?.hosts === undefined ? [] : ['hosts']),
        ...(route?.methods === undefined ? [] : ['methods']),
        ...(route?.match === undefined ? [] : ['exact path']),
        ...(route?.replacePrefix === undefined ? [] : ['replaced prefix']),
        ...(verdict.path !== undefined && /%2F|;/.test(verdict.path) ? ['odd spelling'] : []),
        ...(decision?.rule?.effect === 'deny' ? ['deny rule'] : []),
        ...(decision?.rule && decision.rule.roleKey !== question.roleKey ? ['inherited'] : []),
      ]
    })
  })
  return new Set(kinds)
}

/**
 * Starts a gateway, and expects of every call that it does what the commands say it does: for a
 * caller, for a stranger, and for a proxy that asks.
 */
export async function compareWithGateway({ settings, calls }: Comparison): Promise<void> {
  const { routes, policy: rules, exclusions, logout, profile, password, alias } = settings
  const limits = { targetBytes: maxTargetBytes }
  const gateway = await startPostern({
    ...{ routes, exclusions, ...rules },
    config: asked({ endpoints: { logout, profile, password }, captcha: { alias }, limits }),
  })
  const admission = admissionOf(settings)
  const policies = compile(parsePolicySet(await readPolicyFiles(gateway.policyDirectory)))

  for (const [at, question] of calls.entries()) {
    const stranger = strangers[at % strangers.length] ?? ['token-missing', () => ({})]
    await compareCall(question, { gateway, admission, policies, stranger })
  }
}

const maxTargetBytes = 256

function admissionOf({
  routes,
  logout,
  profile,
  password,
  alias,
}: Comparison['settings']): Admission {
  const endpoints = { logout, profile, password, captchaAlias: alias }
  return createAdmission({ routes: routes as AccessRoute[], endpoints, maxTargetBytes })
}

async function compareCall(
  question: Question,
  {
    gateway,
    admission,
    policies,
    stranger: [problem, sender],
  }: {
    readonly gateway: TestPostern
    readonly admission: Admission
    readonly policies: CompiledPolicies
    readonly stranger: (typeof strangers)[number]
  },
): Promise<void> {
  const { roleKey, method, path, host } = question
  const verdict = evaluate(question, admission, policies)
  const ofStranger = evaluateUnidentified(question, problem, admission)
  const about = `${roleKey} ${method} ${path} on ${host}`

  const known = await observe(gateway, question, { as: roleKey })
  expect(known, about).toMatchObject(expected(verdict))
  const unknown = await observe(gateway, question, sender())
  expect(unknown, `${problem}, ${about}`).toMatchObject(expected(ofStranger))

  // Any upper-case word is a method to forward-auth: the proxy has parsed the request.
  if (verdict.refusal === 'unknown-method') return
  const line = `${method} ${path}`
  const headers = [`X-Forwarded-Host: ${host}`]
  const allowed = await askAbout(gateway, 'nginx', line, { as: roleKey, headers })
  expect(allowed.status, `proxy, ${about}`).toBe(expectedByProxy(question, verdict))
  const anonymous = evaluateUnidentified(question, 'token-missing', admission)
  const refused = await askAbout(gateway, 'nginx', line, { headers })
  expect(refused.status, `proxy, nobody, ${about}`).toBe(expectedByProxy(question, anonymous))
}
