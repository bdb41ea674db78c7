import { describe, expect, test } from 'vitest'
import { matcherWith, modelText } from '../policy/casbin-models.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { prefix } from '../support/published-policies.ts'
import { folder, policy } from './policy-runner.ts'

const slowModel = modelText({ matcher: matcherWith({ path: 'keyMatch3(r.obj, p.obj)' }) })
const fastModel = modelText({
  matcher: `${matcherWith({ path: 'keyMatch(r.obj, p.obj)', method: 'regexMatch(r.act, p.act)' })} || r.sub == "root"`,
})
const filesOf = (model: string, ...rules: readonly string[]) => ({
  'policies/model.conf': model,
  'policies/policy.csv': rules.map((rule) => `p, ${rule}\n`).join(''),
})
const slow = filesOf(slowModel, 'clerk, /orders/{id}, GET', 'clerk, /orders, GET')
const fast = filesOf(fastModel, 'clerk, /orders/*, (GET)|(POST)')

/** A decision takes 40 ms by this clock. */
function createCpuMs(): () => number {
  let now = 0
  return () => {
    now += 40
    return now
  }
}
const slowness =
  'Casbin evaluates this model, because "keyMatch3(r.obj, p.obj)" is outside the index grammar: about 40 ms per decision with 2 rules, measured here; the index takes under 0.01 ms with any number'

describe('a model that leaves the fast engine', () => {
  test('is reported by check with its cost', async () => {
    const cwd = await folder(slow)

    const text = await policy(['check'], { cwd, cpuMs: createCpuMs() })
    const asJson = await policy(['check', '--output', 'json'], { cwd, cpuMs: createCpuMs() })

    expect(text.code).toBe(0)
    expect(text.out).toContain(
      'engine: casbin, because "keyMatch3(r.obj, p.obj)" is outside the index grammar; decision time grows with the number of rules\n' +
        'cost: about 40 ms per decision with 2 rules, measured here; the index takes under 0.01 ms with any number\n',
    )
    expect(JSON.parse(asJson.out)).toMatchObject({
      engine: {
        name: 'casbin',
        outsideIndex: ['"keyMatch3(r.obj, p.obj)" is outside the index grammar'],
        cost: { msPerDecision: 40, rules: 2 },
      },
    })
  })

  test('is reported by diff with its cost', async () => {
    const cwd = await folder(slow)
    const other = await folder(fast)
    const args = ['diff', `${other}/policies`, 'policies']

    const text = await policy(args, { cwd, cpuMs: createCpuMs() })
    const asJson = await policy([...args, '--output', 'json'], { cwd, cpuMs: createCpuMs() })
    const back = await policy(['diff', 'policies', `${other}/policies`], { cwd })

    expect(text.out).toContain(`note: ${slowness}\n`)
    expect(JSON.parse(asJson.out)).toMatchObject({
      engine: { name: 'casbin', cost: { msPerDecision: 40 } },
    })
    expect(back.out).not.toContain('note:')
  })
})

describe('publishing a model that leaves the fast engine', () => {
  const redis = emptiedRedis()
  const run = (args: readonly string[], cwd: string) =>
    policy(args, {
      cwd,
      env: { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix },
      cpuMs: createCpuMs(),
    })
  const push = ['push', '-m', 'why', '--no-tests', '--yes', '--no-wait', '--over', 'live']

  test('needs --allow-slow', async () => {
    const cwd = await folder(slow)

    const refused = await run(push, cwd)
    const published = await run([...push, '--allow-slow', '--output', 'json'], cwd)

    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain(
      `postern: refused: ${slowness}; change the model, or add --allow-slow\n`,
    )
    expect(published.code).toBe(0)
    expect(published.err).toContain(`note: ${slowness}\n`)
    expect(JSON.parse(published.out)).toMatchObject({
      engine: { name: 'casbin', cost: { msPerDecision: 40, rules: 2 } },
    })
  })

  test('needs nothing for a list of methods and a superuser', async () => {
    const { code, err } = await run(push, await folder(fast))

    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('Casbin') })
  })

  test('needs nothing without rules, where nothing is evaluated', async () => {
    const cwd = await folder({ ...slow, 'policies/policy.csv': '# postern: empty\n' })

    expect(await run([...push, '--allow-empty'], cwd)).toMatchObject({ code: 0 })
  })

  test('needs nothing to roll back, but says so', async () => {
    const cwd = await folder(slow)
    const { out } = await run([...push, '--allow-slow', '--output', 'json'], cwd)
    const { head } = JSON.parse(out) as { head: { revision: string } }
    await run(push, await folder(fast))

    const { code, err } = await run(['rollback', head.revision, '--yes', '--no-wait'], cwd)

    expect(code).toBe(0)
    expect(err).toContain(`note: ${slowness}\n`)
  })
})

describe('a superuser', () => {
  test('is named by check, explain and diff', async () => {
    const cwd = await folder(fast)
    const before = await folder(
      filesOf(fastModel.replace(' || r.sub == "root"', ''), 'clerk, /a, GET'),
    )

    const check = await policy(['check'], { cwd })
    const asJson = await policy(['check', '--output', 'json'], { cwd })
    const explain = await policy(['explain', 'root', 'DELETE', '/x'], { cwd })
    const diff = await policy(['diff', `${before}/policies`, 'policies'], { cwd })

    expect(check.out).toContain('superuser: root, by r.sub == "root" in the matcher\n')
    expect(JSON.parse(asJson.out)).toMatchObject({
      superusers: [{ role: 'root', inherited: false, clause: 'r.sub == "root"' }],
    })
    expect(explain).toMatchObject({
      code: 0,
      out: expect.stringContaining(
        'superuser: r.sub == "root" in the matcher of model.conf allows this role every call',
      ),
    })
    expect(diff.out).toMatch(
      /^ {2}\+ {2}root {3}\* .* SUPERUSER: MAY MAKE EVERY CALL, r\.sub == "root"$/m,
    )
  })

  test('is explained when a deny rule denies it every call', async () => {
    const model = modelText({
      columns: 'sub, obj, act, eft',
      effect: 'some(where (p.eft == allow)) && !some(where (p.eft == deny))',
      matcher: `${matcherWith({})} || r.sub == "root"`,
    })
    const cwd = await folder(filesOf(model, 'clerk, /a, GET', 'guest, /b, GET, deny'))

    const explain = await policy(['explain', 'root', 'DELETE', '/x'], { cwd })
    const check = await policy(['check'], { cwd })

    expect(explain).toMatchObject({
      code: 1,
      out: expect.stringMatching(/makes every rule match this role.*\n.*policy\.csv:2/s),
    })
    expect(check.err).toContain('policy.csv:2:1: warning: denies every call to "root"')
  })
})
