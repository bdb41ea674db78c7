import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { folder, policy } from '../cli/policy-runner.ts'
import { prefix } from '../support/published-policies.ts'
import { followersOf, startSteeredSentinel } from '../support/steered-sentinel.ts'
import { until } from '../support/until.ts'

test('postern policy push says which policy a failover of Redis could lose, and checks it again', async () => {
  const { url, primary, replicas } = await startSteeredSentinel({ replicas: 1 })
  const [replica] = replicas
  const cwd = await folder({
    'policies/model.conf': readFileSync('policies/model.conf', 'utf8'),
    'policies/policy.csv': 'p, clerk, /orders, GET\n',
  })
  const env = { POSTERN_REDIS__URL: url, POSTERN_REDIS__PREFIX: prefix }
  const push = (...more: readonly string[]) =>
    policy(['push', '--no-tests', '-m', 'why', '--yes', '--no-wait', ...more], { cwd, env })
  const note =
    'note: a Redis failover could lose this revision: no replica of Redis has confirmed it'

  await replica?.client.replicaof('NO', 'ONE')
  await until(async () => (await followersOf(primary)) === 0)
  const unconfirmed = await push()
  expect(unconfirmed).toMatchObject({ code: 0, err: expect.stringContaining('published r-') })
  expect(unconfirmed.err).toContain(note)
  const still = await push()
  expect(still).toMatchObject({ code: 0, err: expect.stringContaining('is already live') })
  expect(still.err).toContain(note)
  const json = await push('--output', 'json')
  expect(JSON.parse(json.out)).toMatchObject({
    unconfirmed: expect.stringContaining('no replica of Redis has confirmed it'),
  })

  await replica?.client.replicaof('127.0.0.1', primary.port)
  await until(async () => (await followersOf(primary)) === 1)
  const confirmed = await push()
  expect(confirmed).toMatchObject({ code: 0, err: expect.stringContaining('is already live') })
  expect(confirmed.err).not.toContain('failover')
})
