import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { folder, policy } from '../cli/policy-runner.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { prefix, startPublished, testRedis, testStore } from '../support/published-policies.ts'
import { until } from '../support/until.ts'

const model = readFileSync('policies/model.conf', 'utf8')

test('a gateway that lost Redis fails push and status until it is back or stopped', async () => {
  const redis = await testRedis()
  const proxy = await startFaultProxy(redis.port)
  onTestFinished(proxy.close)
  const near = await startPublished({ redis, rules: ['clerk, /orders, GET', 'clerk, /old, GET'] })
  const far = await startPublished({ redis, port: proxy.port })
  const store = await testStore(redis)
  const env = { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix }
  await until(async () => (await store.replicas()).filter(({ stale }) => !stale).length === 2)

  await proxy.refuse()
  await until(async () => (await store.replicas()).some(({ lost }) => lost))
  const cwd = await folder({
    'policies/model.conf': model,
    'policies/policy.csv': 'p, clerk, /orders, GET\n',
  })
  const args = ['push', '--no-tests', '-m', 'withdraw', '--yes', '--over', 'live']
  const push = await policy(args, { cwd, env })

  expect(push).toMatchObject({ code: 1, out: expect.stringMatching(/^1\/2 on r-/) })
  expect(push.err).toMatch(/ is lost: last report \d+ s ago; if it still runs, it uses r-/)
  // Which is why it must not be forgotten: it still allows what was withdrawn.
  expect(await far.ask('/old')).toBe('allowed')
  expect(await near.ask('/old')).toBe('denied')
  expect((await policy(['status'], { cwd, env })).code).toBe(1)

  await proxy.listen()
  await until(async () => (await policy(['status'], { cwd, env })).code === 0)
  expect(await far.ask('/old')).toBe('denied')

  await far.postern.close()
  expect((await policy(['status'], { cwd, env })).out).toMatch(/^1\/1 on r-/)
})
