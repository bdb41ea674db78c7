import fc from 'fast-check'
import type { Access, AccessRoute } from '../../src/admission/routes.ts'
import { createAdmission } from '../../src/admission/verdict.ts'
import { inDomain } from '../../src/answers/in-domain.ts'
import type { Scope } from '../../src/answers/query-scope.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import type { PolicySet } from '../../src/policy/set/policy-set.ts'
import { policySet } from '../policy/policy-text.ts'

/** Segments that rules and routes name, ones that begin like them, and one that nothing names. */
const segments = ['a', 'b', 'ab', 'ax', 'abx', 'zz', 'q']

/** Every path of up to three of the segments, with and without a slash at the end. */
export const paths: readonly string[] = allPaths(3)

function allPaths(depth: number): readonly string[] {
  let last = ['']
  const found = ['/']
  for (let at = 0; at < depth; at++) {
    last = last.flatMap((path) => segments.map((segment) => `${path}/${segment}`))
    found.push(...last, ...last.map((path) => `${path}/`))
  }
  const api = ['/api', '/api/v1', '/api/v1/user', '/api/v1/user/profile', '/api/v1/logout']
  const deeper = api.flatMap((path) => [
    ...[path, `${path}/`, `${path}/q/`, `${path}/q/b`, `${path}/q/q`],
    ...segments.map((segment) => `${path}/${segment}`),
  ])
  const others = ['login', 'getCaptcha', 'captcha', 'refresh_token'].map(
    (name) => `/api/v1/${name}`,
  )
  return [...found, ...deeper, ...others]
}

const patterns = [
  ...['/a', '/b', '/a/', '/a/b', '/a/:x', '/:x', '/:x/b', '/:x/:y', '/a/:x/b', '/ab/:x'],
  ...['/*', '/a/*', '/:x/*', '/a*', '/ab*', '/a/a*', '/a/:x/*', '/api/v1/*', '/api/v1/user/:id'],
]
const role = fc.constantFrom('clerk', 'viewer', 'lead')
const method = fc.constantFrom('GET', 'PUT', '.*', '^(GET|PATCH)$')
const rule = fc
  .record({ role, path: fc.constantFrom(...patterns), method, effect: fc.nat(4) })
  .map(
    (each) =>
      `p, ${each.role}, ${each.path}, ${each.method}, ${each.effect === 0 ? 'deny' : 'allow'}`,
  )
const inheritance = fc.constantFrom('g, viewer, clerk', 'g, lead, viewer', 'g, lead, clerk')
const exclusion = fc
  .record({
    method: fc.constantFrom('GET', 'PUT', 'POST'),
    path: fc.constantFrom('/a/b', '/a/:x', '/ab/zz', '/zz', '/api/v1/logout', '/api/v1/user/zz'),
  })
  .map((each) => `- { method: ${each.method}, path: ${each.path}, reason: for a test }`)
const route = fc
  .record({
    path: fc.constantFrom('/', '/a', '/a/b', '/ab', '/b', '/zz', '/api', '/api/v1/user'),
    access: fc.constantFrom<Access>(
      'permitted',
      'permitted',
      'permitted',
      'authenticated',
      'public',
    ),
    replacePrefix: fc.constantFrom(undefined, undefined, '/', '/api/v1'),
    match: fc.constantFrom(undefined, undefined, undefined, 'exact' as const),
    hosts: fc.constantFrom(undefined, undefined, undefined, ['api.example.com'], ['*.example.com']),
    methods: fc.constantFrom(undefined, undefined, undefined, ['GET'], ['PROPFIND', 'PUT']),
  })
  .map(
    ({ path, access, replacePrefix, match, hosts, methods }): AccessRoute => ({
      ...{ path, access, upstream: 'backend' },
      ...(replacePrefix !== undefined && { replacePrefix }),
      ...(match !== undefined && { match }),
      ...(hosts !== undefined && { hosts }),
      ...(methods !== undefined && { methods }),
    }),
  )

/** Two routes with the same place in the order of precedence are not valid. */
function placeOf({ path, match, hosts, methods }: AccessRoute): string {
  return JSON.stringify([path, match, hosts, methods])
}

/** All that the index answers: inheritance, deny, lists of methods and, in some, a superuser. */
const model = (superuser: string) => `[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act, eft
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = g(r.sub, p.sub) && (keyMatch2(r.obj, p.obj) || keyMatch(r.obj, p.obj)) && regexMatch(r.act, p.act)${superuser}
`

/** The same with a domain, for which the rules and `g` lines of others must not count. */
const modelWithDomain = model('')
  .replace('r = sub, obj', 'r = sub, dom, obj')
  .replace('p = sub, obj', 'p = sub, dom, obj')
  .replace('g = _, _', 'g = _, _, _')
  .replace('g(r.sub, p.sub)', 'g(r.sub, p.sub, r.dom) && (r.dom == p.dom || p.dom == "*")')

/** Puts each line into a domain: most of them into `north`, which is asked about. */
function setWithDomains(lines: readonly string[], exclusions: string) {
  const where = (line: string) => {
    const choice = [...line].reduce((sum, each) => sum + each.charCodeAt(0), 0) % 4
    return ['north', '*', 'south', 'north'][choice] ?? ''
  }
  const placed = lines.map((line) =>
    line.startsWith('g')
      ? `${line}, ${where(line) === 'south' ? 'south' : 'north'}`
      : line.replace(/^(p, \w+)/, `$1, ${where(line)}`),
  )
  return policySet({ modelText: modelWithDomain, lines: placed, exclusions })
}

/** What the answers are about, and the policy with the lines of all domains. */
interface RandomScope extends Scope {
  readonly whole: PolicySet
  readonly domain: string | undefined
}

/** Policies with deny rules, inheritance and exclusions, in configurations of all kinds. */
export const randomScope: fc.Arbitrary<RandomScope> = fc
  .record({
    rules: fc.uniqueArray(rule, { minLength: 1, maxLength: 8 }),
    inheritances: fc.uniqueArray(inheritance, { maxLength: 3 }),
    exclusions: fc.uniqueArray(exclusion, { maxLength: 3 }),
    routes: fc.option(fc.uniqueArray(route, { selector: placeOf, maxLength: 6 }), {
      nil: undefined,
      freq: 6,
    }),
    assumedHost: fc.constantFrom(undefined, 'api.example.com', 'www.example.com'),
    logout: fc.constantFrom('gateway', 'backend'),
    captchaAlias: fc.boolean(),
    hasDomain: fc.constantFrom(false, false, true),
    superuser: fc.constantFrom('', '', '', ' || r.sub == "root"', ' || g(r.sub, "clerk")'),
  })
  .map(({ rules, inheritances, exclusions, ...others }) => {
    const lines = [...rules, ...inheritances]
    const modelText = model(others.superuser)
    const whole = others.hasDomain
      ? setWithDomains(lines, exclusions.join('\n'))
      : policySet({ modelText, lines, exclusions: exclusions.join('\n') })
    return { ...others, whole, domain: others.hasDomain ? 'north' : undefined }
  })
  .map(({ whole, domain, routes, assumedHost, ...others }) => ({
    ...{ whole, domain },
    policies: domain === undefined ? compile(whole) : inDomain(compile(whole), domain),
    admission: {
      ...createAdmission({
        routes,
        endpoints: {
          ...{ logout: others.logout, captchaAlias: others.captchaAlias },
          ...{ profile: 'gateway', password: 'gateway' },
        },
      }),
      ...(assumedHost !== undefined && { assumedHost }),
    },
  }))

/** Whether a pattern matches a path, written down a second time. */
export function matches(pattern: string, path: string): boolean {
  const expression = pattern.replaceAll(/\/:\w+/g, '/[^/]+').replace(/\*$/, '.*')
  return new RegExp(`^${expression}$`).test(path)
}

/** The methods of a rule that the gateway may forward. */
export function methodsOf(text: string): readonly string[] {
  const all = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'MKCOL']
  return text === '.*' ? all : (text.match(/[A-Z]+/g) ?? [])
}
