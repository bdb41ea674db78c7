import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../support/certificates.ts'
import { type IssuerServer, settingsOf, startIssuer } from '../support/issuer-server.ts'
import { newKey, signedBy } from '../support/keys.ts'
import type { RawAnswer } from '../support/raw-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { forge, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const line = 'GET /api/v1/public/x'

interface IssuerDetail {
  readonly usable: boolean
  readonly fetches: { readonly ok: number; readonly failed: number }
}

async function issuersOf({ opsPort }: TestPostern): Promise<readonly IssuerDetail[]> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz?verbose`)
  return ((await answer.json()) as { issuers: IssuerDetail[] }).issuers
}

/** A gateway that trusts this issuer and has its keys. */
async function startWith(issuer: IssuerServer, changes: object = {}): Promise<TestPostern> {
  const postern = await startPostern({ issuers: [{ ...settingsOf(issuer), ...changes }] })
  await until(async () => (await issuersOf(postern))[0]?.usable === true)
  return postern
}

async function start(changes: object = {}) {
  const issuer = await startIssuer()
  return { issuer, postern: await startWith(issuer, changes) }
}

describe('a gateway that accepts tokens of another issuer', () => {
  test('forwards its callers with an ID of their own, and the token to no upstream', async () => {
    const { issuer, postern } = await start()
    const token = issuer.token({ sub: '1', name: 'admin' })

    const { status } = await postern.call(line, { token })

    expect(status).toBe(200)
    const [sent] = postern.upstream.requests
    const names = ['X-User-Id', 'X-Role-Key', 'X-Data-Scope', 'X-User-Name', 'X-Role-Id']
    expect(names.flatMap((name) => sent?.values(name))).toEqual([
      'sso:1',
      'editor',
      '5',
      'admin',
      '0',
    ])
    expect(JSON.stringify(sent)).not.toContain(token)
    expect(postern.logText()).toContain('"msg":"accepting tokens of other issuers"')
    expect(postern.logText()).toMatch(/"caller":"sso:1","role":"editor","kind":"issuer"/)
    expect(postern.logText()).not.toContain(token.slice(-24))
  })

  test('decides by the role that the configuration maps', async () => {
    const { issuer, postern } = await start()

    const denied = await postern.call('GET /api/v1/other', { token: issuer.token() })
    const unmapped = await postern.call(line, { token: issuer.token({ roles: ['admin'] }) })
    const missing = await postern.call(line, { token: issuer.token({ roles: undefined }) })

    expect(denied.json()).toMatchObject({ code: 401, msg: expect.stringMatching(/permission/) })
    expectRefused(unmapped)
    expectRefused(missing)
  })

  test.each([
    ['the query', (token: string) => ({ line: `${line}?token=${token}`, headers: [] })],
    ['a cookie', (token: string) => ({ line, headers: [`Cookie: jwt=${token}`] })],
  ])('accepts it in the header only, not in %s', async (_, carry) => {
    const { issuer, postern } = await start()
    const carried = carry(issuer.token())

    expectRefused(await postern.call(carried.line, { headers: carried.headers }))
    expect(postern.upstream.requests).toEqual([])
  })

  test('accepts none of an issuer that is not configured', async () => {
    const { postern } = await start()
    const stranger = await startIssuer()

    expectRefused(await postern.call(line, { token: stranger.token() }))
    expect(stranger.keyRequests).toEqual([])
  })

  test('never verifies a token of one issuer with the keys of another, or with ours', async () => {
    const [one, other] = [await startIssuer(), await startIssuer()]
    const issuers = [settingsOf(one), { ...settingsOf(other), name: 'other' }]
    const postern = await startPostern({ issuers })
    await until(async () => (await issuersOf(postern)).every(({ usable }) => usable))

    expectRefused(await postern.call(line, { token: one.token({ iss: other.issuer }) }))
    const own = forge({ payload: { ...payloadOf(tokenOf('admin')), iss: one.issuer } })
    expectRefused(await postern.call(line, { token: own }))
    expect((await postern.call(line, { token: other.token() })).status).toBe(200)
    expect((await postern.call(line, { as: 'editor' })).status).toBe(200)
  })

  test('serves a logout with it, which revokes it, and has neither profile nor password for it', async () => {
    const { issuer, postern } = await start()
    const [token, kept] = [issuer.token(), issuer.token()]

    const profile = await postern.call('GET /api/v1/user/profile', { token })
    const body = JSON.stringify({ oldPassword: 'old-password', newPassword: 'new-password' })
    const password = await postern.call('POST /api/v1/user/password', {
      ...{ token, body, headers: ['Content-Type: application/json'] },
    })
    const logout = await postern.call('POST /api/v1/logout', { token, body: '' })

    expect(profile.json()).toEqual({
      code: 403,
      msg: 'only users with an account here have a profile',
    })
    expect(password.json()).toMatchObject({ code: 403 })
    expect(logout.json()).toMatchObject({ code: 200, msg: 'logged out' })
    expectRefused(await postern.call(line, { token }))
    expect((await postern.call(line, { token: kept })).status).toBe(200)
  })

  test('follows a rotation without a failed request', async () => {
    const { issuer, postern } = await start({ cooldownSeconds: 1 })
    const [before] = Object.entries(issuer.keys)
    const old = issuer.token()
    issuer.keys = { ...Object.fromEntries([before ?? []]), second: newKey('RS256') }
    await cooled(issuer)

    const statuses = await Promise.all(
      [old, issuer.token(), issuer.token(), old].map(async (token) => {
        return (await postern.call(line, { token })).json()
      }),
    )

    expect(statuses.map((body) => (body as { code?: number }).code)).not.toContain(401)
    expect(issuer.keyRequests).toHaveLength(2)
  })

  test('answers 503, never 401, to a key of a second rotation until it may fetch again', async () => {
    const { issuer, postern } = await start({ cooldownSeconds: 5 })
    const rotate = (kid: string) => {
      issuer.keys = { ...issuer.keys, [kid]: newKey() }
      return issuer.token()
    }
    const seen: unknown[] = []
    const isServed = async (token: string) => {
      const { status, body } = await postern.call(line, { token })
      seen.push(body === '{"ok":true}' ? 'served' : status)
      return seen.at(-1) === 'served'
    }

    for (const kid of ['second', 'third']) {
      const token = rotate(kid)
      await until(() => isServed(token))
    }

    expect(new Set(seen)).toEqual(new Set([503, 'served']))
    expect(postern.logText()).toContain('its keys were fetched within cooldownSeconds')
  })

  test('fetches once in a cool-down for any number of invented kids, and keeps serving the others', async () => {
    const begun = performance.now()
    const { issuer, postern } = await start({ cooldownSeconds: 1, waitMs: 30_000 })
    await cooled(issuer)
    const invented = (at: number) => issuer.token({}, { kid: `invented-${at}` })

    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, at) => {
          const answer = await postern.call(line, { token: invented(round * 20 + at) })
          // In the cool-down nothing tells them from keys of a rotation.
          if (answer.status !== 503) expectRefused(answer)
        }),
      )
    }
    const good = await postern.call(line, { token: issuer.token() })

    expect(good.status).toBe(200)
    // When each arrived says less: a busy machine delays some of them.
    const again = issuer.keyTimes.length - 1
    expect(again).toBeGreaterThanOrEqual(1)
    expect(again).toBeLessThanOrEqual((performance.now() - begun) / 1000)
  })

  test('starts while the issuer is unreachable, answers 503 to its tokens, and recovers', async () => {
    const issuer = await startIssuer()
    issuer.answer = (_, response) => void response.writeHead(500).end()
    const token = issuer.token()
    const postern = await startPostern({
      issuers: [{ ...settingsOf(issuer), cooldownSeconds: 1, waitMs: 200 }],
    })

    const answer = await postern.call(line, { token })
    expect(answer.status).toBe(503)
    expect(answer.json()).toMatchObject({ code: 503 })
    expect((await postern.call(line, { as: 'editor' })).status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${postern.opsPort}/readyz`)).status).toBe(200)
    issuer.answer = undefined

    await until(async () => (await postern.call(line, { token })).status === 200)
  })

  test('makes no other caller wait for an issuer that hangs', async () => {
    const [hanging, other] = [await startIssuer(), await startIssuer()]
    hanging.answer = () => {}
    const issuers = [
      { ...settingsOf(hanging), waitMs: 30_000 },
      { ...settingsOf(other), name: 'other' },
    ]
    const postern = await startPostern({ issuers })
    await until(async () => (await issuersOf(postern))[1]?.usable === true)
    let hasAnswered = false
    const waiting = postern.call(line, { token: hanging.token() }).then((answer) => {
      hasAnswered = true
      return answer
    })

    const statuses = [
      (await postern.call(line, { token: other.token() })).status,
      (await postern.call(line, { as: 'editor' })).status,
    ]

    expect(statuses).toEqual([200, 200])
    expect(hasAnswered).toBe(false)
    await hanging.stop()
    expect((await waiting).status).toBe(503)
  })

  test('refuses a token whose key was removed, although it was verified before', async () => {
    const { issuer, postern } = await start({ cooldownSeconds: 1 })
    const token = issuer.token()
    expect((await postern.call(line, { token })).status).toBe(200)
    await cooled(issuer)

    issuer.keys = { second: newKey() }
    // A new kid makes the gateway fetch, and the old key is gone.
    await postern.call(line, { token: issuer.token() })

    expectRefused(await postern.call(line, { token }))
  })

  test('accepts a service account of Kubernetes, whose keys need a token and an authority', async () => {
    const certificates = await createCertificates()
    onTestFinished(certificates.remove)
    const directory = await mkdtemp(join(tmpdir(), 'postern-k8s-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const tokenFile = join(directory, 'token')
    await writeFile(tokenFile, 'token-of-the-gateway\n')
    const cluster = await startIssuer(certificates)
    cluster.keys = { 'Zk3-a': newKey('RS256') }
    const account = 'system:serviceaccount:shop:importer'
    const postern = await startWith(cluster, {
      ...{ name: 'k8s', caFile: certificates.authority, tokenFile },
      claims: { userName: '/kubernetes.io/serviceaccount/name', roleKey: 'sub' },
      roles: [{ value: account, role: 'editor' }],
    })
    const details = { namespace: 'shop', serviceaccount: { name: 'importer', uid: '0c1f' } }
    const claims = { aud: ['postern'], 'kubernetes.io': details, roles: undefined }

    const token = cluster.token({ ...claims, sub: account }, { typ: undefined })
    const other = cluster.token({ ...claims, sub: `${account}-2` }, { typ: undefined })

    expect((await postern.call(line, { token })).json()).toMatchObject({ ok: true })
    expectRefused(await postern.call(line, { token: other }))
    const [sent] = postern.upstream.requests
    expect(sent?.values('X-User-Id')).toEqual([`k8s:${account}`])
    expect(sent?.values('X-User-Name')).toEqual(['importer'])
    expect(cluster.keyRequests[0]?.['authorization']).toBe('Bearer token-of-the-gateway')
    expect(postern.logText()).not.toContain('token-of-the-gateway')
  })

  test('refuses a signature by another key under the published kid', async () => {
    const { issuer, postern } = await start()
    const [kid] = Object.keys(issuer.keys)

    const forged = signedBy(newKey(), { kid }, payloadOf(issuer.token()))

    expectRefused(await postern.call(line, { token: forged }))
  })
})

/** Waits until the cool-down of a second after its last fetch has passed. */
function cooled({ keyTimes }: IssuerServer): Promise<void> {
  return until(() => Date.now() - (keyTimes.at(-1) ?? 0) > 1100)
}

function expectRefused(answer: RawAnswer): void {
  expect(answer.status).toBe(200)
  expect(answer.json()).toEqual({ code: 401, msg: 'please log in again' })
}

function payloadOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}
