import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tenants } from '../policy/domain-models.ts'
import { settingsOf, startIssuer } from '../support/issuer-server.ts'
import type { RawAnswer } from '../support/raw-client.ts'
import { type PosternOptions, startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const rules = ['lead, north, /orders/*, GET', 'lead, south.test, /orders/*, GET']
const inheritances = ['editor, lead, north', 'editor, lead, north.test']
const start = (domain: object | undefined, options: PosternOptions = {}) =>
  startPostern({
    ...{ model: tenants, rules: [...rules, 'lead, north.test, /orders/*, GET'], inheritances },
    ...options,
    config: { ...options.config, policy: { ...(domain && { domain }) } },
  })

/** The code of a refusal, else the status. */
function codeOf({ status, body }: RawAnswer): number {
  const [, code] = /"code":(\d+)/.exec(String(body)) ?? []
  return code === undefined ? status : Number(code)
}

describe('a domain from a claim', () => {
  test('is the only one that the caller has permission in, whatever the request says', async () => {
    const postern = await start({ from: 'claim', claim: '/org/id' })
    const status = async (org: unknown, more: object = {}) => {
      const token = tokenOf('editor', { org, ...more })
      const headers = ['X-Domain: north', 'X-Tenant: north']
      const line = 'GET /orders/7?dom=north&tenant=north'
      return codeOf(await postern.call(line, { token, headers, host: 'north' }))
    }

    expect(await status({ id: 'north' })).toBe(200)
    expect(await status({ id: 'south' })).toBe(401)
    // A claim of another name, or one that is not a text, is not a domain.
    for (const org of [undefined, 'north', {}, { id: '' }, { id: ['north'] }, { id: null }]) {
      expect(await status(org, { id: 'north', dom: 'north' })).toBe(401)
    }
    for (const id of [7, true, { north: 'north' }, 'north ', 'NORTH', 'north\u0000', '*']) {
      expect(await status({ id })).toBe(401)
    }
    expect(await status({ id: 'n'.repeat(256) })).toBe(401)
    expect(await status(JSON.parse('{"__proto__": {"id": "north"}}'))).toBe(401)
    // The token stays valid: it is the permission that is missing.
    expect(postern.logText()).not.toContain('token-invalid')
  })

  test('is missing: the log says so, admin and exclusions pass', async () => {
    const exclusions = [{ method: 'GET', path: '/menu', reason: 'everyone has one' }]
    const postern = await start({ from: 'claim', claim: 'tenant' }, { exclusions })
    const status = async (as: string, path: string) =>
      codeOf(await postern.call(`GET ${path}`, { as }))

    expect(await status('editor', '/orders/7')).toBe(401)
    expect(await status('admin', '/orders/7')).toBe(200)
    expect(await status('editor', '/menu')).toBe(200)
    await until(() => postern.logText().includes('"reason":"no-domain"'))
  })

  test('comes with tokens of other issuers too', async () => {
    const issuer = await startIssuer()
    const issuers = [settingsOf(issuer)]
    const postern = await start({ from: 'claim', claim: 'tenant' }, { issuers })
    const status = async (claims: object) => {
      const token = issuer.token(claims as never)
      return codeOf(await postern.call('GET /orders/7', { token }))
    }

    expect(await status({ tenant: 'north' })).toBe(200)
    expect(await status({ tenant: 'south' })).toBe(401)
    expect(await status({ tenant: ['north'] })).toBe(401)
    expect(await status({})).toBe(401)
  })
})

describe('a domain from the host', () => {
  test('is the canonical host, whatever its spelling and port', async () => {
    const postern = await start({ from: 'host' })
    const status = async (host: string, headers: readonly string[] = []) => {
      const token = tokenOf('editor', { dom: 'north.test', tenant: 'north.test' })
      return codeOf(await postern.call('GET /orders/7', { token, host, headers }))
    }

    for (const host of ['north.test', 'NORTH.test', 'north.test.', 'north.test:8080']) {
      expect([host, await status(host)]).toEqual([host, 200])
    }
    for (const host of ['south.test', 'north.test.evil.test', 'xnorth.test', '127.0.0.1']) {
      expect([host, await status(host)]).toEqual([host, 401])
    }
    // Only a trusted proxy may report another host.
    expect(await status('south.test', ['X-Forwarded-Host: north.test'])).toBe(401)
    expect(await status('north.test@south.test')).toBe(400)
  })
})

describe('a gateway', () => {
  test('does not start when only one of model and configuration has a domain', async () => {
    await expect(start(undefined)).rejects.toThrow('set policy.domain.from to host or claim')
    await expect(
      startPostern({ config: { policy: { domain: { from: 'host' } } } }),
    ).rejects.toThrow('remove policy.domain')
  })

  test('keeps its policy when a model without a domain comes', async () => {
    const postern = await start({ from: 'claim', claim: 'tenant' })
    const token = tokenOf('editor', { tenant: 'north' })
    const open = 'r.sub == p.sub && keyMatch2(r.obj, p.obj) && r.act == p.act'
    await writeFile(
      join(postern.policyDirectory, 'model.conf'),
      tenants
        .replace('r = sub, dom, obj, act', 'r = sub, obj, act')
        .replace(/m = .*/, `m = ${open} && g(r.sub, p.sub, p.dom)`),
    )

    await until(() => postern.logText().includes('policy update rejected'))
    expect(postern.logText()).toContain('policy.domain is set, but the request has no domain')
    expect(codeOf(await postern.call('GET /orders/7', { token }))).toBe(200)
  })
})
