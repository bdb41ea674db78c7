import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { settingsOf, startIssuer } from '../support/issuer-server.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const line = 'GET /api/v1/public/x'
const times = { refreshSeconds: 2, cooldownSeconds: 1, maxKeyAgeSeconds: 6, waitMs: 200 }

test('an issuer that is unreachable longer than its keys may be used costs its callers 503, never 401', async () => {
  const issuer = await startIssuer()
  const postern = await startPostern({ issuers: [{ ...settingsOf(issuer), ...times }] })
  const token = issuer.token()
  const outcome = async (text: string) => {
    const answer = await postern.call(line, { token: text })
    const { code = answer.status } = answer.json() as { code?: number }
    return code
  }
  await until(async () => (await outcome(token)) === 200)

  issuer.answer = () => {}
  const seen = new Set<number>()
  let good = 0
  for (let code = 200; code !== 503; await pause(20)) {
    code = await outcome(good % 2 === 0 ? token : issuer.token())
    if (code === 200) good++
    seen.add(code)
  }
  expect([...seen].toSorted()).toEqual([200, 503])
  // About six seconds of calls with keys that were known, verified before or not.
  expect(good).toBeGreaterThan(20)
  expect(await outcome(token)).toBe(503)
  expect((await postern.call(line, { as: 'editor' })).status).toBe(200)

  issuer.answer = undefined
  await until(async () => (await outcome(token)) === 200)
})
