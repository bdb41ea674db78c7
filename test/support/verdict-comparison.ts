import fc from 'fast-check'
import { expect } from 'vitest'
import type { Access, AccessRoute } from '../../src/admission/routes.ts'
import { createAdmission, evaluate, type Verdict } from '../../src/admission/verdict.ts'
import { type CompiledPolicies, compile } from '../../src/policy/engine/compile.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { readPolicyFiles } from '../../src/stores/policies/policy-files.ts'
import { startPostern, type TestPostern } from './start-postern.ts'

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
  })
  .map(({ path, access, replacePrefix, allow }) => ({
    ...{ path, upstream: 'backend', access },
    ...(access === 'public' && { reason: 'for a test' }),
    ...(replacePrefix !== undefined && { replacePrefix }),
    ...(allow !== undefined && { allow: { ...allow } }),
  }))

const patterns = ['/a', '/a/*', '/a/:x', '/files/*', '/api/v1/orders/:id', '/api/v1/user/*', '/*']
const rule = fc
  .tuple(
    fc.constantFrom('clerk', 'viewer'),
    fc.constantFrom(...patterns),
    fc.constantFrom('GET', 'PUT', '*'),
  )
  .map((fields) => fields.join(', '))

/** Routes, rules, exclusions and own endpoints at random. */
const configuration = fc.record({
  routes: fc.uniqueArray(route, { selector: ({ path }) => path, maxLength: 5 }),
  rules: fc.array(rule, { maxLength: 5 }),
  exclusions: fc.subarray([
    { method: 'GET', path: '/a/b', reason: 'for a test' },
    { method: 'PUT', path: '/api/v1/orders/:id', reason: 'for a test' },
    { method: 'GET', path: '/api/v1/user/profile', reason: 'for a test' },
  ]),
  logout: fc.constantFrom('gateway', 'gateway', 'backend'),
  profile: fc.constantFrom('gateway', 'gateway', 'backend'),
  alias: fc.boolean(),
})

const call = fc.record({
  roleKey: fc.constantFrom('clerk', 'viewer', 'admin'),
  method: fc.constantFrom('GET', 'GET', 'PUT', 'POST', 'OPTIONS', 'TRACE'),
  path: fc.constantFrom(
    ...[
      '*',
      '/',
      '/a',
      '/a/b',
      '/a/b/c',
      '/ab',
      '/A',
      '/a/',
      '/nowhere',
      '/files/x',
      '/old',
      '/old/x',
    ],
    ...['/a//b', '/a/../b', '/a/%2e%2e/b', '/files/x%2Fy', '/files/x;y', '/files;x/y', '/a%2Fb'],
    ...['/files/%37', '/a/\\b', '/old/login', '/old/refresh_token', '/api/v1/orders/7'],
    ...['/api/v1/login', '/api/v1/Login', '/api/v1/login/', '/api/v1/getCaptcha'],
    ...['/api/v1/captcha', '/api/v1/logout', '/api/v1/logout/', '/api/v1/user/profile'],
    ...[
      '/api/v1/user/other',
      '/api/v1/refresh_token',
      '/api/v1/REFRESH_TOKEN/',
      '/api%2Fv1%2Flogin',
    ],
  ),
})

/** What the gateway did, by its log line and by what reached the upstream. */
interface Observed {
  readonly outcome: string
  readonly step?: string
  readonly route?: string
  readonly forwarded: boolean
}

async function observe(
  gateway: TestPostern,
  line: string,
  token: { readonly as?: string },
): Promise<Observed> {
  const before = gateway.upstream.requests.length
  const seen = gateway.logText().length
  await gateway.call(line, token)
  let text = ''
  while (!text.includes('"msg":"request"')) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    text = gateway.logText().slice(seen)
  }
  const [request] = text.split('\n').filter((each) => each.includes('"msg":"request"'))
  return { ...JSON.parse(request ?? ''), forwarded: gateway.upstream.requests.length > before }
}

/** What the gateway has to do with a caller of whom the verdict is this. */
function expected({ allowed, refusal, isUnserved, endpoint, decision, path }: Verdict) {
  const steps = decision === undefined ? {} : { step: decision.step }
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
}

/** The same without a token. */
function expectedOfNobody(verdict: Verdict) {
  if (verdict.need === undefined || verdict.need === 'nothing') return expected(verdict)
  return { outcome: 'token-missing', forwarded: false }
}

/** What one gateway is started with, and the calls that it gets. */
export type Comparison = ReturnType<typeof comparisons>[number]

/** Random configurations and policies, each with random calls; the same ones for the same seed. */
export function comparisons(count: number, callsEach: number, seed: number) {
  const calls = fc.array(call, { minLength: callsEach, maxLength: callsEach })
  return fc
    .sample(fc.tuple(configuration, calls), { numRuns: count, seed })
    .map(([settings, asked], at) => ({ at, settings, calls: asked }))
}

/** Starts a gateway, and expects of every call that it does what the commands say it does. */
export async function compareWithGateway({ settings, calls }: Comparison): Promise<void> {
  const { routes, rules, exclusions, logout, profile, alias } = settings
  const gateway = await startPostern({
    ...{ routes, rules, exclusions },
    config: { endpoints: { logout, profile }, captcha: { alias } },
  })
  const endpoints = { logout, profile, captchaAlias: alias }
  const admission = createAdmission({ routes: routes as AccessRoute[], endpoints })
  const policies: CompiledPolicies = compile(
    parsePolicySet(await readPolicyFiles(gateway.policyDirectory)),
  )

  for (const question of calls) {
    const { roleKey, method, path } = question
    const verdict = evaluate(question, admission, policies)
    const known = await observe(gateway, `${method} ${path}`, { as: roleKey })
    const unknown = await observe(gateway, `${method} ${path}`, {})

    const about = `${roleKey} ${method} ${path} ${JSON.stringify(routes)}`
    expect(known, about).toMatchObject(expected(verdict))
    expect(unknown, `nobody, ${about}`).toMatchObject(expectedOfNobody(verdict))
  }
}
