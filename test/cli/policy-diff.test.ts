import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { widestModel } from '../policy/policy-text.ts'
import { folder, policy } from './policy-runner.ts'

const model = readFileSync('policies/model.conf', 'utf8')
const inheritingModel = formatModel(widestModel)
const routesUnknown =
  'note: routes are ignored: postern.yaml: configuration file does not exist; give a configuration with --config\n'

describe('postern policy diff', () => {
  const twoPolicies = async (before: string, after: string, exclusions = '') =>
    folder({
      ...{ 'a/model.conf': model, 'a/policy.csv': before },
      ...{ 'b/model.conf': model, 'b/policy.csv': after, 'b/exclusions.yaml': exclusions },
    })

  const inheriting = async (before: readonly string[], after: readonly string[]) =>
    folder({
      ...{ 'a/model.conf': inheritingModel, 'a/policy.csv': before.join('\n') },
      ...{ 'b/model.conf': inheritingModel, 'b/policy.csv': after.join('\n') },
    })

  test('shows gains and losses as access, and exits with 1 when it widens', async () => {
    const cwd = await twoPolicies(
      'p, clerk, /orders/*, GET\np, clerk, /stock, PUT\n',
      'p, clerk, /orders/*, GET\np, clerk, /orders/:id, GET\np, clerk, /orders/:id, DELETE\n',
      '- { method: GET, path: /export, reason: why not }',
    )

    const { code, out, err } = await policy(['diff', 'a', 'b'], { cwd })

    expect({ code, err }).toEqual({ code: 1, err: routesUnknown })
    expect(out.replaceAll(/r-[0-9a-f]{32}/g, 'r')).toBe(
      `r -> r
  +  EVERYONE  GET     /export      b/exclusions.yaml:1  NO PERMISSION CHECK ANY MORE
  +  clerk     DELETE  /orders/:id  b/policy.csv:3       for example DELETE /orders/x
  -  clerk     PUT     /stock       a/policy.csv:2
access widens: 2 gains (1 without a permission check, 1 of methods that change data), 1 loss
`,
    )
  })

  test.each([
    ['narrows', 'p, c, /x, *', 'p, c, /x, GET', 'access narrows'],
    ['stays', 'p, c, /x, *', 'p, c, /x, *\np, c, /x, GET', 'access stays the same'],
    ['is the same', 'p, c, /x, *', '# same\np, c, /x, *', 'no difference'],
  ])('exits with 0 when access %s', async (_, before, after, words) => {
    const { code, out } = await policy(['diff', 'a', 'b'], {
      cwd: await twoPolicies(before, after),
    })

    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(words) })
  })

  test('answers in JSON', async () => {
    const cwd = await twoPolicies('p, c, /x, GET', 'p, c, /x, GET\np, c, /y, GET')

    const { code, out } = await policy(['diff', 'a', 'b', '--output', 'json'], { cwd })

    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      widened: true,
      changes: [
        {
          ...{ direction: 'gain', severity: 'reading', cause: 'allow', line: 'added' },
          ...{ roleKey: 'c', origin: { file: 'b/policy.csv', line: 2 } },
          shares: [
            {
              roles: ['c'],
              grants: [{ methods: ['GET'], path: '/y', example: { method: 'GET', path: '/y' } }],
            },
          ],
        },
      ],
    })
  })

  test('folds the roles that inherit, names routes, and puts changes without effect aside', async () => {
    const rules = [
      ...['p, clerk, /a, GET', 'p, boss, /b/:id, *', 'p, boss, /c, GET', 'p, boss, /c, PUT'],
      ...['p, boss, /c/:id, GET', 'p, boss, /c/:id, PUT', 'p, t1, /b/*, GET'],
      ...['g, temp, clerk', ...Array.from({ length: 23 }, (_, at) => `g, t${at}, temp`)],
    ]
    const more = ['p, clerk, /b/*, *', 'p, clerk, /d, GET', 'p, x, /open, PUT', 'g, x, boss']
    const cwd = await folder({
      'a/model.conf': inheritingModel,
      'a/policy.csv': rules.join('\n'),
      'b/model.conf': inheritingModel,
      'b/policy.csv': [...rules, ...more].join('\n'),
      'config/postern.yaml': `application: { mode: dev }
upstreams: { app: { targets: ["http://127.0.0.1:9"] } }
routes:
  - { path: /b, upstream: app }
  - { path: /c, upstream: app }
  - { path: /open, upstream: app, access: public, reason: open }
`,
    })

    const { code, out, err } = await policy(['diff', 'a', 'b'], { cwd })

    expect({ code, err }).toEqual({ code: 1, err: '' })
    expect(out.replaceAll(/r-[0-9a-f]{32}/g, 'r')).toBe(
      `r -> r
  +  clerk  *         /b/*  b/policy.csv:32  and 24 roles that inherit it (1 of them differently), route /b, for example GET /b/x
  +  x      inherits  boss  b/policy.csv:35  5 rules: * /b (1), GET|PUT /c (4), routes /b, /c
without effect at a gateway with this configuration:
  +  x      PUT  /open  b/policy.csv:34  route /open, access public: everyone may call it
  +  clerk  GET  /d     b/policy.csv:33  and 24 roles that inherit it, no route serves it
access widens: 2 gains (2 of wildcards), 0 losses; without effect: 2 gains (1 of methods that change data, 1 of reading), 0 losses
`,
    )
  })

  test('counts a gain without effect for the exit code, unless only this gateway counts', async () => {
    const cwd = await twoPolicies('p, c, /x, GET', 'p, c, /x, GET\np, c, /y, GET')
    await writeFile(
      join(cwd, 'x.yaml'),
      'application: { mode: dev }\nupstreams: { app: { targets: ["http://127.0.0.1:9"] } }\nroutes: [{ path: /x, upstream: app }]\n',
    )
    const asked = ['diff', 'a', 'b', '--config', 'x.yaml']

    const all = await policy(asked, { cwd })
    const here = await policy([...asked, '--this-gateway'], { cwd })
    const inJson = await policy([...asked, '--output', 'json'], { cwd })

    expect([all.code, here.code]).toEqual([1, 0])
    expect(here.out).toContain(
      'access widens, but not at a gateway with this configuration: 0 gains',
    )
    expect(JSON.parse(inJson.out)).toMatchObject({
      ...{ widened: true, widenedHere: false, areRoutesKnown: true, notes: [] },
      changes: [{ hasEffect: false, withoutEffect: ['no-route'], routes: [] }],
    })
  })

  test('counts a gain without a route where another proxy asks the gateway', async () => {
    const cwd = await twoPolicies('p, c, /x, GET', 'p, c, /x, GET\np, c, /y, GET')
    await writeFile(
      join(cwd, 'x.yaml'),
      'application: { mode: dev, trustedProxies: ["127.0.0.1"] }\nforwardAuth: { enabled: true }\nroutes: [{ path: /x }]\n',
    )

    const { code, out } = await policy(['diff', 'a', 'b', '--config', 'x.yaml', '--this-gateway'], {
      cwd,
    })

    expect(code).toBe(1)
    expect(out).not.toContain('without effect')
  })

  test('prints a long list of roles once in JSON', async () => {
    const heirs = Array.from({ length: 150 }, (_, at) => `g, h${at}, base`)
    const rules = ['p, base, /x, GET', ...heirs]
    const cwd = await folder({
      'a/model.conf': inheritingModel,
      'a/policy.csv': rules.join('\n'),
      'b/model.conf': inheritingModel,
      'b/policy.csv': [...rules, 'p, base, /y, PUT', 'p, base, /z, PUT'].join('\n'),
    })

    const { out } = await policy(['diff', 'a', 'b', '--output', 'json'], { cwd })

    const [first, second] = JSON.parse(out).changes
    expect(first.shares[0].roles).toHaveLength(151)
    expect(second.shares).toMatchObject([{ roleCount: 151, rolesAt: 'changes[0].shares[0]' }])
  })

  test('names what only roles gain that inherit a line', async () => {
    const own = ['p, base, /x, GET', 'p, heir, /x, *', 'g, heir, base', 'p, low, /x, PUT']
    const denied = [...own, 'g, low, base', 'p, base, /x, *, deny']
    const cwd = await inheriting(denied, [...own, 'g, low, base'])

    const { out } = await policy(['diff', 'a', 'b'], { cwd })

    expect(out).toContain(
      '+  base  GET  /x  a/policy.csv:6  no longer denied, and 2 roles that inherit it (2 of them differently: also *)',
    )
  })

  test('shows a rule for everything in a list that is cut', async () => {
    const parent = Array.from({ length: 12 }, (_, at) => `p, boss, /r${at}, GET`)
    const lines = [...parent, 'p, boss, /all/*, *', 'p, c, /x, GET']
    const cwd = await inheriting(lines, [...lines, 'g, c, boss'])

    const { out } = await policy(['diff', 'a', 'b'], { cwd })

    expect(out).toContain('13 rules: * /all (1), GET /r0 (1)')
  })

  test('shows every change before the question of a push', async () => {
    const rules = Array.from({ length: 500 }, (_, at) => `p, c, /r${at}, GET`)
    const cwd = await twoPolicies('p, c, /x, GET', rules.join('\n'))

    const { out } = await policy(['diff', 'a', 'b'], { cwd })

    expect(out.match(/^ {2}\+ /gm)).toHaveLength(500)
    expect(out).toMatch(/\naccess widens: 500 gains \(500 of reading\), 1 loss\n$/)
  })

  test('exits with 3 when one of the two cannot be used', async () => {
    const { code, err } = await policy(['diff', 'a', 'b'], {
      cwd: await twoPolicies('p, c, /x, GET', 'p, c'),
    })

    expect(code).toBe(3)
    expect(err).toContain('b/policy.csv:1')
  })

  test('says what is missing when live is asked for and nobody knows where that is', async () => {
    const cwd = await twoPolicies('p, c, /x, GET', 'p, c, /x, GET')

    const { code, err } = await policy(['diff', 'live', 'b', '--config', 'x.yaml'], { cwd })

    expect(code).toBe(3)
    expect(err).toContain('x.yaml')
  })
})
