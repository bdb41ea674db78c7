import { afterAll, beforeAll, expect, test } from 'vitest'
import { postLogin } from '../support/log-in.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import {
  liveToken,
  overEverywhere,
  startReplicas,
  tokenFrom,
  type User,
} from '../support/session-replicas.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { totpCode } from '../support/totp.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

async function logIn(gateway: TestPostern, { name, password }: User, otp?: string) {
  const fields = { username: name, password, uuid: '-', code: '-', ...(otp && { otp }) }
  const answer = await postLogin(gateway, fields)
  const { msg = 'logged in' } = answer.json() as { msg?: string }
  return `${answer.status} ${msg}`
}

test('one-time codes are one for two gateways on PostgreSQL, and end older tokens', async () => {
  const replicas = await startReplicas({ databaseUrl: server.url })
  const gateways = [await replicas.start(), await replicas.start()] as const
  const [here, there] = gateways
  const user = await replicas.addUser()
  const before = await liveToken(gateways, user)

  const { out } = await replicas.postern(`user totp ${user.name} --no-confirm --output json`)
  const { secret, recoveryCodes } = JSON.parse(out) as { secret: string; recoveryCodes: string[] }

  await overEverywhere(gateways, before)
  expect(await logIn(here, user)).toBe('200 a one-time code is needed')
  const code = totpCode(secret, Date.now())
  const both = await Promise.all([logIn(here, user, code), logIn(there, user, code)])
  expect(both.toSorted()).toEqual(['200 logged in', '200 wrong one-time code'])
  const [recovery = ''] = recoveryCodes
  const again = await Promise.all([logIn(here, user, recovery), logIn(there, user, recovery)])
  expect(again.toSorted()).toEqual(['200 logged in', '200 wrong one-time code'])
  await replicas.postern(`user totp ${user.name} --remove`)
  expect(await logIn(there, user)).toBe('200 logged in')
})

test('a gateway without the key answers 503 to that account, and logs others in', async () => {
  const replicas = await startReplicas({ databaseUrl: server.url })
  const [ann, bob] = [await replicas.addUser(), await replicas.addUser()]
  const { out } = await replicas.postern(`user totp ${ann.name} --no-confirm --output json`)
  const { secret, recoveryCodes } = JSON.parse(out) as { secret: string; recoveryCodes: string[] }
  const other = await startPostern({
    config: {
      application: { mode: 'dev' },
      jwt: { secret: 'another secret than that of the commands, and long enough' },
      database: { url: server.url, statementTimeoutMs: 10_000 },
    },
  })

  expect(await logIn(other, ann)).toBe('200 a one-time code is needed')
  for (const otp of [totpCode(secret, Date.now()), recoveryCodes[0], '000000']) {
    expect(await logIn(other, ann, otp)).toMatch(/^503 /)
  }
  expect(other.logText()).toContain(
    `one-time codes of user ID ${ann.id} cannot be decrypted with key jwt.secret`,
  )
  expect(await tokenFrom(other, bob)).toBeTruthy()
})
