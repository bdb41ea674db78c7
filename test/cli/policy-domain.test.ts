import { describe, expect, test } from 'vitest'
import { tenants } from '../policy/domain-models.ts'
import { folder, policy } from './policy-runner.ts'

const lines = [
  'p, lead, north.test, /orders/:id, GET',
  'p, lead, south.test, /orders/:id, PUT',
  'g, ann, lead, north.test',
]
const secret = 'a secret of the test that is long enough for anybody'
const configOf = (domain: string, routes = '{ path: /orders, upstream: app }') =>
  [
    `jwt: { secret: ${secret} }`,
    'upstreams: { app: { targets: ["http://127.0.0.1:1"] } }',
    `routes: [${routes}]`,
    `policy: { domain: ${domain} }`,
  ].join('\n')
const byHost = configOf('{ from: host }')
const byClaim = configOf('{ from: claim, claim: tenant }')

function files(config: string, tests: readonly string[] = []): Promise<string> {
  return folder({
    'x.yaml': config,
    'policies/model.conf': tenants,
    'policies/policy.csv': `${lines.join('\n')}\n`,
    ...(tests.length > 0 && { 'policies/tests/a_test.yaml': tests.join('') }),
  })
}

async function asked(config: string, ...args: readonly string[]) {
  const cwd = await files(config)
  const { code, out, err } = await policy([...args, '--config', 'x.yaml'], { cwd })
  return { code, out, err }
}

const needsHost =
  'the model has a domain: name one with --host or --domain (the policy names north.test, south.test)'

describe('a question about a policy whose domain is the host', () => {
  test.each([
    ['--host', ['/orders/7', '--host', 'NORTH.test.']],
    ['a URL', ['https://north.test/orders/7']],
    ['--domain', ['/orders/7', '--domain', 'north.test:443']],
    ['both', ['/orders/7', '--domain', 'north.test', '--host', 'north.test']],
  ])('takes it from %s', async (_, target) => {
    const { code, out } = await asked(byHost, 'explain', 'ann', 'GET', ...target)

    expect(code).toBe(0)
    expect(out).toContain('domain north.test')
    const elsewhere = target.map((each) => each.replace(/north/i, 'south'))
    expect((await asked(byHost, 'explain', 'ann', 'GET', ...elsewhere)).code).toBe(1)
  })

  test('is refused without a host, and with two', async () => {
    expect((await asked(byHost, 'who', 'GET', '/orders/7')).err).toContain(needsHost)
    const two = ['https://north.test/orders/7', '--domain', 'south.test']
    expect((await asked(byHost, 'explain', 'ann', 'GET', ...two)).err).toContain(
      '--domain south.test and the host north.test differ',
    )
  })

  test('is about the routes of that host, whichever option names it', async () => {
    const config = configOf('{ from: host }', '{ path: /, hosts: [south.test], upstream: app }')
    for (const option of ['--host', '--domain']) {
      const { out } = await asked(
        config,
        'explain',
        'ann',
        'GET',
        '/orders/7',
        option,
        'north.test',
      )
      expect(out).toContain('no route and not application.hosts names this host')
    }
  })
})

describe('a question about a policy whose domain is a claim', () => {
  test('does not take it from the host', async () => {
    const { err } = await asked(byClaim, 'who', 'GET', 'https://north.test/orders/7')

    expect(err).toContain('name one with --domain (the policy names')
  })

  test.each([
    ['who', ['GET', '/orders/7'], 'ann', 'lead'],
    ['matrix', [], 'ann', 'lead'],
    ['can', ['lead'], 'GET', 'PUT'],
  ])('%s answers for the domain', async (command, args, inNorth, inSouth) => {
    const north = await asked(byClaim, command, ...args, '--domain', 'north.test')
    const south = await asked(byClaim, command, ...args, '--domain', 'south.test')

    expect(north.out).toContain(inNorth)
    expect(south.out).not.toBe(north.out)
    if (command === 'can') expect(south.out).toContain(inSouth)
    expect((await asked(byClaim, command, ...args)).err).toContain('name one with --domain')
  })
})

describe('a test of a policy whose domain is the host', () => {
  const line = (fields: string) => `- { role: ann, method: GET, path: /orders/7, ${fields} }\n`
  const run = async (config: string, ...tests: readonly string[]) => {
    const cwd = await files(config, tests)
    return policy(['test', '--config', 'x.yaml'], { cwd })
  }

  test('names the host or the domain', async () => {
    const { code, out } = await run(
      byHost,
      line('host: north.test, expect: allow'),
      line('domain: north.test, expect: allow'),
      line('host: south.test, expect: deny'),
    )

    expect(out).toContain('3 tests, 3 passed')
    expect(code).toBe(0)
  })

  test('is refused without them, and with two that differ', async () => {
    const { err } = await run(
      byHost,
      line('expect: deny'),
      line('host: north.test, domain: south.test, expect: deny'),
    )

    expect(err).toContain('a_test.yaml:1:3: error: host or domain is required')
    expect(err).toContain('a_test.yaml:2:3: error: host and domain differ')
  })

  test('needs the domain if it is a claim', async () => {
    const { err } = await run(byClaim, line('host: north.test, expect: deny'))

    expect(err).toContain('error: domain is required: the model has a domain')
  })
})

describe('reading a policy with domains', () => {
  const run = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const cwd = await folder({
      'x.yaml': byClaim,
      'policies/model.conf': tenants,
      'policies/policy.csv': `${[...lines, 'g, bob, lead, souht.test'].join('\n')}\n`,
      ...more,
    })
    return policy([...args, '--config', 'x.yaml'], { cwd })
  }

  test('check finds a g line in a domain without rules, and a star that matches nothing', async () => {
    const { err } = await run(['check'])
    expect(err).toContain(
      'policy.csv:4:15: warning: role "lead" has no rules in domain "souht.test", neither its own nor inherited ones; did you mean south.test?',
    )
    const star = { 'policies/policy.csv': 'p, lead, *, /orders/:id, GET\ng, ann, lead, *\n' }
    expect((await run(['check'], star)).err).toMatch(
      /policy\.csv:1:10: warning: domain "\*" is compared literally[^\n]*\n[^\n]*policy\.csv:2:15: warning: domain "\*" is compared literally: "\*" does not match every domain; write one "g" line/,
    )
  })

  test('check compares rules within a domain only', async () => {
    const twice = {
      'policies/policy.csv': `${lines.join('\n')}\np, lead, south.test, /orders/:id, GET\n`,
    }
    expect((await run(['check'], twice)).err).toBe('')
  })

  test('explain says that a rule, or what is inherited, counts in another domain', async () => {
    const elsewhere = await run(['explain', 'lead', 'PUT', '/orders/7', '--domain', 'north.test'])
    expect(elsewhere.out).toMatch(
      /p, lead, south\.test, \/orders\/:id, PUT +counts in another domain/,
    )
    const heir = await run(['explain', 'ann', 'PUT', '/orders/7', '--domain', 'south.test'])
    expect(heir.out).toMatch(/PUT +inherited in another domain only/)
  })

  test('every question says that the policy does not name the domain', async () => {
    for (const args of [['can', 'lead'], ['who', 'GET', '/orders/7'], ['matrix']]) {
      const { err } = await run([...args, '--domain', 'norht.test'])
      expect(err).toContain('not name the domain "norht.test"; did you mean north.test?')
    }
  })

  test('coverage and open answer for the domain, and compare every rule of it', async () => {
    const document =
      'openapi: 3.0.0\ninfo: { title: t, version: "1" }\npaths: { "/orders/{id}": { put: { responses: {} } } }\n'
    const covered = await run(['coverage', 'api.yaml', '--domain', 'north.test'], {
      'api.yaml': document,
    })
    expect(covered.out).toContain('1 operation is for admin only')
    expect(covered.out).toContain('policies/policy.csv:1')
    expect(covered.out).not.toContain('policies/policy.csv:2')
    expect((await run(['open'])).code).toBe(0)
  })

  test('diff says in which domains a role gains, and once for every domain', async () => {
    const next = {
      'next/model.conf': tenants.replace('r.dom == p.dom', '(r.dom == p.dom || p.dom == "*")'),
      'now/model.conf': tenants.replace('r.dom == p.dom', '(r.dom == p.dom || p.dom == "*")'),
      'now/policy.csv': `${lines.join('\n')}\n`,
      'next/policy.csv': `${[
        ...lines,
        ...['north', 'south'].map((each) => `p, clerk, ${each}.test, /orders/:id, DELETE`),
        'p, guest, *, /orders/:id, GET',
        'g, bob, lead, south.test',
      ].join('\n')}\n`,
    }
    const { out } = await run(['diff', 'now', 'next'], next)

    expect(out).toMatch(/\+ +guest +GET +\/orders\/:id +next\/policy\.csv:6 +in every domain,/)
    expect(out).toMatch(
      /\+ +bob +inherits +lead +next\/policy\.csv:7 +in domain south\.test, 1 rule/,
    )
    expect(out).toMatch(/\+ +clerk +DELETE .*policy\.csv:4 +in domain north\.test,/)
    expect(out).toContain('4 gains')
    const { changes } = JSON.parse(
      (await run(['diff', 'now', 'next', '--output', 'json'], next)).out,
    )
    expect(changes[0].domains).toBeDefined()
  })
})
