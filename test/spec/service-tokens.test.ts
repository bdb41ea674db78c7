import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serverAttributes } from '../../src/tracing/span-attributes.ts'
import { expectUnauthenticated } from '../support/outcomes.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { nowSeconds, type TestClaims, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const year = 31_536_000
const on = { tokens: { service: { enabled: true } } }

function serviceToken(lifetime: number, changes: TestClaims = {}): string {
  return tokenOf('editor', { kind: 'service', exp: nowSeconds() + lifetime, ...changes })
}

const call = (postern: TestPostern, token: string) =>
  postern.call('GET /api/v1/public/a', { token })

function logged(postern: TestPostern, member: string): unknown[] {
  return [...postern.logText().matchAll(new RegExp(`"${member}":"([^"]+)"`, 'g'))].map(
    ([, at]) => at,
  )
}

describe('a service token', () => {
  test('is refused unless tokens.service.enabled says otherwise, also in mode dev', async () => {
    for (const mode of ['prod', 'dev']) {
      const postern = await startPostern({ config: { application: { mode } } })
      const token = serviceToken(60)

      for (const answer of [await call(postern, token), await call(postern, token)])
        expectUnauthenticated(answer, postern.upstream)
      expect(logged(postern, 'outcome')).toEqual(['token-invalid', 'token-invalid'])
      expect(postern.logText()).toContain('service tokens are off (tokens.service.enabled)')
    }
  })

  test('outlives jwt.timeout, up to a year unless tokens.service.maxLifetime says otherwise', async () => {
    const postern = await startPostern({ config: on })
    const short = { service: { enabled: true, maxLifetime: 7200 } }
    const shorter = await startPostern({ config: { tokens: short } })

    for (const lifetime of [7200, year, year + 120])
      for (const gateway of [postern, shorter]) await call(gateway, serviceToken(lifetime))

    expect(logged(postern, 'outcome')).toEqual(['passed', 'passed', 'token-too-long-lived'])
    expect(logged(shorter, 'outcome')).toEqual([
      'passed',
      ...['token-too-long-lived', 'token-too-long-lived'],
    ])
    expect(shorter.logText()).toContain('at most 7200 s is accepted')
  })

  test('has no hundred years in mode dev', async () => {
    const postern = await startPostern({ config: { ...on, application: { mode: 'dev' } } })

    await call(postern, tokenOf('editor', { exp: nowSeconds() + 100 * year }))
    await call(postern, serviceToken(100 * year))

    expect(logged(postern, 'outcome')).toEqual(['passed', 'token-too-long-lived'])
  })

  test('does not lengthen the lifetime of a token of a login', async () => {
    const postern = await startPostern({ config: on })

    await call(postern, tokenOf('editor', { exp: nowSeconds() + 7200 }))
    await call(postern, tokenOf('editor', { kind: 'user', exp: nowSeconds() + 7200 }))

    expect(logged(postern, 'outcome')).toEqual(['token-too-long-lived', 'token-too-long-lived'])
  })

  test('is not one of an unknown kind, which is refused', async () => {
    const postern = await startPostern({ config: on })
    const kinds = ['Service', 'admin', '', 1, ['service'], { service: true }, true, 'issuer']

    for (const kind of kinds) {
      expectUnauthenticated(await call(postern, serviceToken(60, { kind })), postern.upstream)
    }
    expect(new Set(logged(postern, 'reason'))).toEqual(
      new Set(['kind is neither user nor service']),
    )
  })

  test('is marked in the request log, the decision log, metrics and spans, unlike one of a person', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'postern-decisions-')), 'decisions.jsonl')
    onTestFinished(() => rm(dirname(file), { recursive: true, force: true }))
    const logger = { decisions: { enabled: true, file } }
    const postern = await startPostern({ config: { ...on, logger } })

    await call(postern, tokenOf('editor'))
    await call(postern, serviceToken(60))

    expect(logged(postern, 'kind')).toEqual(['service'])
    expect(postern.logText()).toContain('"role":"editor","kind":"service"')
    const decisions = async () => (await readFile(file, 'utf8')).trim().split('\n')
    await until(async () => (await decisions()).length === 2)
    const subjects = (await decisions()).map((line) => JSON.parse(line).subject.kind)
    expect(subjects).toEqual([undefined, 'service'])
    expect(await postern.ops.metrics.text()).toMatch(
      /_requests_total\{kind="user"\} 1\n.*_requests_total\{kind="service"\} 1\n.*\{kind="issuer"\} 0/,
    )
    const end = { method: 'GET', status: 200, outcome: 'passed', error: undefined }
    const spanOf = (kind: string) => serverAttributes({ ...end, notes: { kind } })['postern.kind']
    expect([spanOf('user'), spanOf('service')]).toEqual([undefined, 'service'])
  })

  test('is announced at startup and by /readyz?verbose, if it is accepted', async () => {
    const [gateway, other] = [await startPostern({ config: on }), await startPostern()]
    const line = '"maxLifetimeSeconds":31536000,"msg":"accepting service tokens"'
    const shown = async ({ opsPort }: TestPostern) => {
      const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz?verbose`)
      return ((await answer.json()) as { serviceTokens: unknown }).serviceTokens
    }

    expect(gateway.logText()).toContain(line)
    expect(other.logText()).not.toContain('accepting service tokens')
    expect(await shown(gateway)).toEqual({ enabled: true, maxLifetime: year })
    expect(await shown(other)).toMatchObject({ enabled: false })
  })

  test('reaches the upstream with the same headers as a person in its role', async () => {
    const postern = await startPostern({ config: on })

    await call(postern, tokenOf('editor'))
    await call(postern, serviceToken(60))

    const [person, program] = postern.upstream.requests.map(({ headers }) =>
      headers.filter(([name]) => /^x-(?:user|role|data)/i.test(name)),
    )
    expect(program).toEqual(person)
    expect(program?.length).toBeGreaterThan(2)
  })
})
