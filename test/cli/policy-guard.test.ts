import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { prefix, testStore } from '../support/published-policies.ts'
import { approve, createOffice, propose, proposed, push } from './approval-office.ts'
import { folder, policy } from './policy-runner.ts'
import { sayAs } from './shadow-replica.ts'

const directory = {
  'policies/model.conf': readFileSync('policies/model.conf', 'utf8'),
  'policies/policy.csv': 'p, clerk, /orders/:id, GET\np, nurse, /payroll/7, PUT\n',
  'policies/guardrails.yaml': `- only: payroll
  may: write /payroll/*
  reason: Salaries.
- nobody but admin: DELETE /orders/*
`,
}
const broken =
  'breaks "only payroll may write /payroll/*": nurse may PUT /payroll/7 by policies/policy.csv:2'

describe('postern policy guard', () => {
  test('lists guardrails, proves those that are broken, and exits with 1', async () => {
    const cwd = await folder(directory)

    const { code, out } = await policy(['guard'], { cwd })

    expect(code).toBe(1)
    expect(out.split('\n')).toEqual([
      '2 guardrails, 1 broken',
      expect.stringMatching(/^ {2}policy {2}policies, r-[0-9a-f]{32}$/),
      '  BROKEN  policies/guardrails.yaml:1: only payroll may write /payroll/*  # Salaries.',
      '          nurse may PUT /payroll/7 by policies/policy.csv:2',
      '  holds   policies/guardrails.yaml:4: nobody but admin: DELETE /orders/*',
      '',
    ])
  })

  test('exits with 0 when all hold, and prints the proof as JSON', async () => {
    const cwd = await folder(directory)
    const json = await policy(['guard', '--output', 'json'], { cwd })
    expect(JSON.parse(json.out).guardrails[0].violations).toEqual([
      {
        message: 'nurse may PUT /payroll/7 by policies/policy.csv:2',
        proof: { roleKey: 'nurse', method: 'PUT', path: '/payroll/7' },
      },
    ])

    const sound = { ...directory, 'policies/policy.csv': 'p, payroll, /payroll/*, *\n' }
    const held = await policy(['guard'], { cwd: await folder(sound) })
    expect(held).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^2 guardrails, none broken/),
    })
  })
})

test('a policy that breaks a guardrail is not valid, and names the proof', async () => {
  const cwd = await folder(directory)

  const { code, err } = await policy(['check'], { cwd })

  expect({ code, err }).toEqual({
    code: 3,
    err: `policies/guardrails.yaml:1: error: ${broken}\n`,
  })
})

test('the routes of the configuration and the tests of the directory count', async () => {
  const cwd = await folder({
    ...directory,
    'policies/guardrails.yaml': '- every route: has a test\n- public at most: []\n',
    'policies/tests/a_test.yaml':
      '- { role: clerk, method: GET, path: /orders/7, expect: allow }\n',
    'postern.yaml': `jwt: { secret: 0123456789abcdef0123456789abcdef0123456789abcdef }
upstreams: { app: { targets: ['http://127.0.0.1:3000'] } }
routes:
  - { path: /orders, upstream: app }
  - { path: /assets, upstream: app, access: public, reason: Pictures. }
`,
  })

  const { code, out } = await policy(['guard', '--config', 'postern.yaml'], { cwd })

  expect(code).toBe(1)
  expect(out).toContain('no test is about the route /assets')
  expect(out).toContain('the route /assets is public: * /assets')
  expect(out).not.toContain('route /orders')
})

describe('a stored policy that breaks a guardrail since another route is public', () => {
  const redis = emptiedRedis()

  /** Proposes a policy and makes it the shadow. Then a route is public. */
  async function stored() {
    const at = await createOffice(redis.url, undefined)
    await at.write('policies/guardrails.yaml', '- public at most: []\n')
    const revision = await proposed(at)
    const shadow = await at.run([
      'push',
      '--shadow',
      '--no-tests',
      '-m',
      'see',
      '--yes',
      '--no-wait',
    ])
    expect(shadow).toMatchObject({ code: 0 })
    const { head } = (await (await testStore(redis)).shadow.read()) ?? {}
    await sayAs(redis, head?.sequence, { id: 'gw-1', evidence: { evaluated: 50 } })
    await at.write(
      'config/postern.yaml',
      stringify({
        ...{ application: { mode: 'dev' }, redis: { url: redis.url, prefix } },
        upstreams: { app: { targets: ['http://127.0.0.1:3000'] } },
        routes: [{ path: '/assets', upstream: 'app', access: 'public', reason: 'Pictures.' }],
        policy: { source: 'redis' },
      }),
    )
    return { at, revision }
  }

  test('is neither approved, published, promoted nor proposed again', async () => {
    const { at, revision } = await stored()

    const refused = [
      await approve(at, revision, 'ben.pem'),
      await push(at, revision),
      await at.run(['promote', revision, '--yes', '--no-wait']),
      await propose(at, revision),
    ]

    for (const { code, err } of refused) {
      expect({ code, err }).toEqual({
        code: 3,
        err: expect.stringContaining(
          'guardrails.yaml:1: error: breaks "public at most: nothing": the route /assets is public: * /assets\n',
        ),
      })
    }
    expect(await (await testStore(redis)).head()).toBeUndefined()
    const json = await at.run(['push', revision, '--yes', '--no-wait', '--output', 'json'])
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, revision, errors: [{ line: 1 }] })
  })
})
