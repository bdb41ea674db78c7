import { cp, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import type { DocumentOf } from '../../src/operations/operation.ts'
import type { policyCan, policySimulate } from '../../src/operations/policy/descriptions.ts'
import { matches, methodsOf } from '../answers/random-scopes.ts'
import { postLogin } from '../support/log-in.ts'
import { type Ran, runCommand } from '../support/run-command.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'

const rules = [
  'clerk, /orders, GET, allow',
  'clerk, /orders/:id, GET, allow',
  'clerk, /orders/*, DELETE, allow',
  'lead, /orders/:id, "^(PUT|DELETE)$", allow',
  'lead, /orders/kept, DELETE, deny',
  'lead, /menu, PUT, allow',
  'auditor, /orders/*, GET, allow',
  'auditor, /orders/kept/*, .*, allow',
  'auditor, /orders/:id, DELETE, deny',
]
const inheritances = [
  'lead, clerk',
  'both, clerk',
  'both, auditor',
  'chief, lead',
  'chief, auditor',
]
const model = `[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act, eft
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = g(r.sub, p.sub) && (keyMatch2(r.obj, p.obj) || keyMatch(r.obj, p.obj)) && regexMatch(r.act, p.act)
`
const routes = [
  { path: '/orders', upstream: 'backend' },
  { path: '/orders/open', upstream: 'backend', access: 'public', reason: 'for a test' },
  { path: '/menu', upstream: 'backend', access: 'authenticated' },
]
const calls = ['GET', 'PUT', 'DELETE'].flatMap((method) =>
  [
    '/orders',
    '/orders/7',
    '/orders/kept',
    '/orders/kept/1',
    '/orders/7/8',
    '/orders/open',
    '/menu',
  ].map((path) => ({ method, path })),
)

/** A running gateway with its accounts, and commands on its configuration. */
async function office() {
  const gateway = await startPostern({
    ...{ rules, inheritances, model, routes, ownDatabase: true },
    config: { application: { mode: 'dev' } },
  })
  const cwd = join(gateway.policyDirectory, '..')
  const run = (line: string): Promise<Ran> =>
    runCommand([...line.split(' '), '--config', 'postern.yaml'], { cwd })
  const passwords = new Map<string, string>()
  return {
    gateway,
    run,
    async add(name: string, role: string) {
      const { code, out } = await run(`user add ${name} --role ${role}`)
      expect(code).toBe(0)
      passwords.set(name, out.trim())
    },
    /** What the gateway lets a new token of this account do. */
    async allowedTo(name: string): Promise<readonly string[]> {
      const fields = { username: name, password: passwords.get(name), uuid: '-', code: '-' }
      const { token } = (await postLogin(gateway, fields)).json() as { token: string }
      return allowed(gateway, token)
    },
    async addRoles(...keys: readonly string[]) {
      for (const key of keys)
        expect(await run(`role add ${key} --name ${key} --data-scope self`)).toMatchObject({
          code: 0,
        })
    },
  }
}

async function allowed(gateway: TestPostern, token: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const { method, path } of calls) {
    const before = gateway.upstream.requests.length
    await gateway.call(`${method} ${path}`, { token })
    if (gateway.upstream.requests.length > before) found.push(`${method} ${path}`)
  }
  return found
}

const open = ['GET', 'PUT', 'DELETE'].flatMap((method) => [
  `${method} /orders/open`,
  `${method} /menu`,
])

/** The calls that a list of rules covers. */
function covered(rules: readonly { readonly method: string; readonly path: string }[]) {
  return calls
    .filter(({ method, path }) => {
      return rules.some(
        (rule) => methodsOf(rule.method).includes(method) && matches(rule.path, path),
      )
    })
    .map(({ method, path }) => `${method} ${path}`)
}

test('can --user lists what a running gateway lets a token of that account do', async () => {
  const { run, add, addRoles, allowedTo } = await office()
  await addRoles('clerk', 'lead', 'auditor', 'both', 'chief', 'nobody')
  for (const role of ['clerk', 'lead', 'auditor', 'both', 'chief']) {
    await add(`${role}-ann`, role)
    const { code, out } = await run(`policy can --user ${role}-ann --output json`)
    const answer = JSON.parse(out) as Exclude<
      DocumentOf<typeof policyCan>,
      { comparedWith: string }
    >
    const found = answer.routes.flatMap((route) => route.rules)
    const denied = covered(found.flatMap(({ rule }) => (rule.effect === 'deny' ? [rule] : [])))
    const may = covered(found.flatMap(({ rule }) => (rule.effect === 'allow' ? [rule] : [])))
    const answered = [...open, ...may.filter((call) => !denied.includes(call))]

    expect(code).toBe(0)
    expect(answer.account).toMatchObject({ username: `${role}-ann`, roleKey: role, enabled: true })
    expect([...new Set(answered)].sort()).toEqual([...(await allowedTo(`${role}-ann`))].sort())
  }

  const text = await run('policy can --user clerk-ann --compare lead')
  const csv = await run('policy can --user clerk-ann --output csv')
  expect(text.out).toMatch(
    /\n {2}account {2}clerk-ann \(ID \d+, role clerk, data scope \S+\)\n {2}policy/,
  )
  expect((await run('policy can --user clerk-ann')).out).toMatch(
    /^clerk-ann \(role clerk\): 3 rules allow/,
  )
  expect(csv.out).toBe((await run('policy can clerk --output csv')).out)

  await run('user disable lead-ann')
  await add('new', 'nobody')
  for (const [asked, code, err] of [
    [
      '--user lead-ann',
      1,
      /^postern: lead-ann cannot log in: the account is disabled; "postern policy open" .*\n$/,
    ],
    ['--user new', 1, /^postern: .* does not name the role "nobody".*\n$/],
    ['--user ghost', 5, /^postern: user "ghost" does not exist.*\n$/],
    ['clerk --user new', 2, /--user replaces ROLE/],
    ['', 2, /ROLE/],
  ] as const) {
    const ran = await run(`policy can ${asked}`.trim())
    expect({ asked, code: ran.code, out: ran.out }).toEqual({ asked, code, out: '' })
    expect(ran.err).toMatch(err)
  }
})

test('who --accounts --names names the accounts of each role', async () => {
  const { run, add, addRoles } = await office()
  await addRoles('clerk', 'lead')
  for (let at = 0; at < 12; at++) await add(`c${String(at).padStart(2, '0')}`, 'clerk')
  await add('bob', 'lead')
  await add('=eve', 'lead')
  await add('off', 'lead')
  await run('user disable off')
  const { out, err } = await run('policy who GET /orders --accounts --names')
  const { roles, admin } = JSON.parse(
    (await run('policy who GET /orders --accounts --names --output json')).out,
  )
  const csv = await run('policy who GET /orders --accounts --names --output csv')
  const alone = await run('policy who GET /orders --names')

  expect(err).toBe('')
  expect(out).toMatch(
    /\n {2}clerk +12: c00, c01, c02, c03, c04, c05, c06, c07, c08, c09, … and 2 more {2}/,
  )
  expect(out).toMatch(/\n {2}lead +2: =eve, bob \(and 1 disabled\) {2}/)
  expect(admin.accounts).toEqual({ enabled: 1, disabled: 0, names: ['admin'] })
  expect(roles.find((each: { roleKey: string }) => each.roleKey === 'lead').accounts).toEqual({
    ...{ enabled: 2, disabled: 1, names: ['=eve', 'bob'] },
  })
  expect(csv.out).toMatch(/^role,may,.*,accounts,disabled accounts,names\r\n/)
  expect(csv.out).toMatch(/,2,1,"'=eve, bob"\r\n/)
  expect(alone).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(/^postern: --names needs --accounts\n/),
  })
})

test('diff --accounts names the accounts that gain or lose at this gateway', async () => {
  const { gateway, run, add, addRoles } = await office()
  await addRoles('clerk', 'lead', 'auditor')
  for (const [name, role] of Object.entries({
    ann: 'clerk',
    bob: 'lead',
    off: 'lead',
    dan: 'auditor',
  }))
    await add(name, role)
  await run('user disable off')
  const changed = join(gateway.policyDirectory, '..', 'changed')
  await cp(gateway.policyDirectory, changed, { recursive: true })
  const file = join(changed, 'policy.csv')
  const before = await readFile(file, 'utf8')
  const without = before.replace(/^p, clerk, \/orders\/\*, DELETE.*\n/m, '')
  const lines = ['p, lead, /orders/:id, POST, allow', 'p, auditor, /menu, PUT, allow', '']
  await writeFile(file, `${without}${lines.join('\n')}`)
  const asked = `policy diff ${basename(gateway.policyDirectory)} changed --accounts`

  const { out, err } = await run(asked)
  const { accounts } = JSON.parse((await run(`${asked} --output json`)).out)
  const same = await run('policy diff changed changed --accounts')

  expect(without).not.toBe(before)
  expect(err).toBe('')
  // The menu needs no permission, so an auditor gains nothing there.
  expect(out).toContain(
    'accounts that gain or lose:\n  -   clerk  1: ann\n  +-  lead   1: bob (and 1 disabled)\n',
  )
  expect(accounts).toEqual([
    { roleKey: 'clerk', gains: false, loses: true, enabled: 1, disabled: 0, names: ['ann'] },
    { roleKey: 'lead', gains: true, loses: true, enabled: 1, disabled: 1, names: ['bob'] },
  ])
  expect(same.out).toContain('accounts that gain or lose: none\n')
})

test('simulate tells what a running gateway lets the account do with the other role', async () => {
  const { run, add, addRoles, allowedTo } = await office()
  await addRoles('clerk', 'lead', 'auditor', 'both', 'chief')
  for (const role of ['clerk', 'lead', 'auditor', 'both', 'chief']) await add(`${role}-bob`, role)
  const may = new Map<string, readonly string[]>()
  for (const role of ['clerk', 'lead', 'auditor', 'both', 'chief', 'admin']) {
    if (role !== 'admin') may.set(role, await allowedTo(`${role}-bob`))
  }
  const everything = calls.map(({ method, path }) => `${method} ${path}`)
  let gained = 0
  let lost = 0
  for (const [from, options, to] of [
    ['clerk', '--add-role auditor', 'both'],
    ['auditor', '--add-role clerk', 'both'],
    ['lead', '--add-role auditor', 'chief'],
    ['clerk', '--add-role lead', 'lead'],
    ['lead', '--add-role clerk', 'lead'],
    ['clerk', '--add-role clerk', 'clerk'],
    ['clerk', '--add-role admin', 'admin'],
    ['clerk', '--add-role lead --remove-role clerk', 'lead'],
    ['lead', '--add-role auditor --remove-role lead', 'auditor'],
    ['auditor', '--add-role chief --remove-role auditor', 'chief'],
  ] as const) {
    const asked = `policy simulate --user ${from}-bob ${options}`
    const { code, out } = await run(`${asked} --output json`)
    const { gains, losses, account } = JSON.parse(out) as Simulated
    const [before, after] = [may.get(from) ?? [], may.get(to) ?? everything]
    const sides = [
      { found: gains, one: after, truth: after.filter((call) => !before.includes(call)) },
      { found: losses, one: before, truth: before.filter((call) => !after.includes(call)) },
    ]

    expect(account).toMatchObject({ username: `${from}-bob`, roleKey: from })
    for (const { found, one, truth } of sides) {
      const listed = covered(found.differences.map(({ rule }) => rule))
      expect({ asked, missing: truth.filter((call) => !listed.includes(call)) }).toEqual({
        ...{ asked, missing: found.isEverything ? truth : [] },
      })
      expect(found.differences.length === 0 && !found.isEverything).toBe(truth.length === 0)
      for (const { example, isWhole, rule } of found.differences) {
        const own = covered([rule]).filter((call) => one.includes(call) && !open.includes(call))
        if (everything.includes(callText(example))) expect(truth).toContain(callText(example))
        if (isWhole) expect(truth).toEqual(expect.arrayContaining(own))
      }
    }
    expect(code).toBe(gains.differences.length > 0 || gains.isEverything ? 0 : 1)
    gained += sides[0]?.truth.length ?? 0
    lost += sides[1]?.truth.length ?? 0
  }
  expect([gained, lost].every((each) => each > 5)).toBe(true)

  // As an administrator would give it.
  expect(await run('user role clerk-bob lead')).toMatchObject({ code: 0 })
  expect(await allowedTo('clerk-bob')).toEqual(may.get('lead'))
})

type Simulated = DocumentOf<typeof policySimulate>

const callText = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

test('simulate shows gains and losses as text and CSV, and says in one line what it cannot do', async () => {
  const { run, add, addRoles } = await office()
  await addRoles('clerk', 'lead')
  await add('lea', 'lead')
  const asked = 'policy simulate --user lea --add-role auditor'
  const { out, err } = await run(asked)
  const csv = await run(`${asked} --output csv`)

  expect(out).toMatch(
    /^lea as lead and auditor: gains 2 rules, loses 2\n {2}account {2}lea \(ID \d+, role lead, .*\n {2}policy {3}/,
  )
  expect(out).toContain('as lead and auditor may and as lead may not\n')
  expect(err).toBe('note: an account has one role: this is what a role that inherits both may do\n')
  expect(csv.out).toMatch(/^change,may,effect,method,path,line,inherited from,until,served\r\n/)
  expect(csv.out).toMatch(/\ngains,/)
  expect(csv.out).toMatch(/\nloses,/)
  await run('user disable lea')
  await add('bob', 'clerk')
  for (const [options, code, message] of [
    [
      '--user lea --add-role lead',
      1,
      /^postern: lea cannot log in: the account is disabled; .*\n$/,
    ],
    [
      '--user bob --add-role laed',
      1,
      /^postern: .* does not name the role "laed".*did you mean lead\?\n$/,
    ],
    [
      '--user bob --add-role lead --remove-role lead',
      2,
      /^postern: --remove-role lead: bob has the role clerk\n/,
    ],
    ['--user ghost --add-role lead', 5, /^postern: user "ghost" does not exist.*\n$/],
    ['--user bob', 2, /--add-role/],
  ] as const) {
    const ran = await run(`policy simulate ${options}`)
    expect({ options, code: ran.code, out: ran.out }).toEqual({ options, code, out: '' })
    expect(ran.err).toMatch(message)
  }
})
