import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { routeLabel } from '../../src/admission/route-label.ts'
import { createServingRoutes } from '../../src/answers/serving-routes.ts'
import { checkPolicySet } from '../../src/policy/checks/check.ts'
import { findingCodes } from '../../src/policy/review/finding.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { tenants } from './domain-models.ts'
import { policyFiles, widestModel } from './policy-text.ts'

type Code = (typeof findingCodes)[number]
type Surroundings = Omit<NonNullable<Parameters<typeof checkPolicySet>[2]>, 'tick'>

/** Lines of a table, or the text of the exclusions, and what they are checked against. */
interface Sample extends Surroundings {
  readonly lines?: readonly string[]
  readonly exclusions?: string
  readonly modelText?: string
}

const clerk = 'p, clerk, /orders, GET'
const superuser = formatModel(widestModel).replace(/^m = (.+)$/m, 'm = $1 || r.sub == "root"')
const beside = (clause: string) =>
  formatModel(widestModel).replace(/^m = (.+)$/m, `m = $1 || ${clause}`)
const excluded = (method: string, path: string) =>
  `- { method: ${method}, path: '${path}', reason: why }`
const known = (...roleKeys: readonly string[]) => {
  return { name: 'live', roleKeys: new Set(roleKeys) }
}

const until = '# postern: until 2026-12-01'
const december = Date.UTC(2026, 11, 1)
const day = 86_400_000

const routesOf = (path: string) => {
  const all = [{ path, access: 'permitted' as const }]
  const serving = createServingRoutes(all)
  return { all, serving: (pattern: string) => serving(pattern).routes, label: routeLabel }
}

/** For each code, a policy that gets the warning, and a similar one that does not. */
const samples: Readonly<Record<Code, { readonly warned: Sample; readonly fine: Sample }>> = {
  'deny-without-effect': {
    warned: { lines: [clerk, 'p, clerc, /orders/7, GET, deny'] },
    fine: { lines: [clerk, 'p, clerk, /orders/7, GET, deny'] },
  },
  'domain-wildcard': {
    warned: { modelText: tenants, lines: ['p, clerk, *, /orders, GET'] },
    fine: {
      modelText: tenants.replace('r.dom == p.dom', '(r.dom == p.dom || p.dom == "*")'),
      lines: ['p, clerk, *, /orders, GET'],
    },
  },
  duplicate: {
    warned: { lines: [clerk, 'p,clerk,/orders,GET,allow'] },
    fine: { lines: [clerk, 'p, clerk, /orders, POST'] },
  },
  'exclusion-business': {
    warned: { exclusions: excluded('GET', '/orders/export') },
    fine: { exclusions: excluded('GET', '/health') },
  },
  'exclusion-changes': {
    warned: { exclusions: excluded('POST', '/feedback') },
    fine: { exclusions: excluded('POST', '/api/v1/logout') },
  },
  'exclusion-wide': {
    warned: { exclusions: excluded('GET', '/texts/:language') },
    fine: { exclusions: excluded('GET', '/texts/en') },
  },
  expired: {
    warned: { lines: [until, clerk], at: december },
    fine: { lines: [until, clerk], at: december - 30 * day },
  },
  'expires-soon': {
    warned: { lines: [until, clerk], at: december - 14 * day },
    fine: { lines: [until, clerk], at: december - 14 * day - 1 },
  },
  'inline-comment': {
    warned: { lines: [clerk, 'p, lead, /orders, PUT', 'g, lead, clerk # for now'] },
    fine: { lines: [clerk, '# for now', 'g, lead, clerk'] },
  },
  'never-applies': {
    warned: { lines: ['p, admin, /orders, GET'] },
    fine: { lines: ['p, admin, /orders, GET', 'g, deputy, admin'] },
  },
  'not-read': {
    warned: { lines: ['# postern: ignore wide-rul', clerk] },
    fine: { lines: ['# postern: ignore wide-rule', clerk] },
  },
  'open-matcher': {
    warned: { modelText: beside('r.sub != "root"') },
    fine: { modelText: beside('r.sub == "root" && r.obj != "/secret"') },
  },
  'role-new': {
    warned: { lines: [clerk], before: known('viewer') },
    fine: { lines: [clerk], before: known('clerk', 'viewer') },
  },
  'role-similar': {
    warned: { lines: [clerk, 'p, clerk, /orders, POST', 'p, clrek, /orders/:id, GET'] },
    fine: { lines: [clerk, 'p, viewer, /orders/:id, GET'] },
  },
  'role-spelling': {
    warned: { lines: [clerk, 'p, Clerk, /orders/:id, GET'] },
    fine: { lines: [clerk, 'p, Auditor, /orders/:id, GET'] },
  },
  'role-unassigned': {
    warned: { lines: [clerk, 'p, base, /orders/:id, GET'], assignable: known('clerk') },
    fine: {
      lines: [clerk, 'p, base, /orders/:id, GET', 'g, clerk, base'],
      assignable: known('clerk'),
    },
  },
  'role-wildcard': {
    warned: { lines: ['p, *, /orders, GET'] },
    fine: { lines: ['p, clerk, /orders/:id, *'] },
  },
  'role-without-rules': {
    warned: { lines: [clerk, 'g, clerk, ghost'] },
    fine: { lines: [clerk, 'g, lead, clerk'] },
  },
  'superuser-denied': {
    warned: { modelText: superuser, lines: [clerk, 'p, clerk, /orders/7, GET, deny'] },
    fine: { modelText: superuser, lines: [clerk] },
  },
  'unserved-path': {
    warned: { lines: [clerk], routes: routesOf('/articles') },
    fine: { lines: [clerk], routes: routesOf('/orders') },
  },
  'useless-rule': {
    warned: { lines: ['p, clerk, /orders/:id, GET', 'p, clerk, /orders/:key, GET'] },
    fine: { lines: ['p, clerk, /orders/:id, GET', 'p, viewer, /orders/:key, GET'] },
  },
  'wide-rule': {
    warned: { lines: ['p, clerk, /api/*, GET'] },
    fine: { lines: ['p, clerk, /api/v1/orders/*, GET'] },
  },
}

function codesOf({
  lines = [clerk],
  exclusions,
  modelText,
  ...surroundings
}: Sample): readonly string[] {
  const files = policyFiles({
    model: widestModel,
    lines,
    ...(exclusions !== undefined && { exclusions }),
    ...(modelText !== undefined && { modelText }),
  })
  return checkPolicySet(parsePolicySet(files), files, surroundings).map(({ code }) => code)
}

describe.each(findingCodes)('the warning %s', (code) => {
  test('is given for what it is about', () => {
    expect(codesOf(samples[code].warned)).toEqual([code])
  })

  test('is not given for what is similar and right', () => {
    expect(codesOf(samples[code].fine)).toEqual([])
  })

  test('can be ignored where its author means it', () => {
    const { lines = [clerk], exclusions, ...rest } = samples[code].warned
    if (code === 'not-read') return
    const comment = `# postern: ignore duplicate, ${code}`
    if (code === 'open-matcher') {
      const modelText = rest.modelText?.replace('m = ', `${comment}\nm = `) ?? ''
      expect(codesOf({ modelText })).toEqual([])
      return
    }
    const ignoring =
      exclusions === undefined
        ? { lines: lines.flatMap((line) => [comment, line]) }
        : { exclusions: `${comment}\n${exclusions}` }

    expect(codesOf({ ...rest, ...ignoring })).toEqual([])
  })

  test('is in the reference', () => {
    const reference = readFileSync('docs/policy-warnings.md', 'utf8')

    expect(reference).toMatch(new RegExp(`^\\| \`${code}\` \\| .+ \\| .+ \\|$`, 'm'))
  })
})

test('the reference has no other codes', () => {
  const reference = readFileSync('docs/policy-warnings.md', 'utf8')

  expect([...reference.matchAll(/^\| `([^`]+)` \|/gm)].map(([, code]) => code)).toEqual(
    findingCodes,
  )
})
