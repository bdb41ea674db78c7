import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { folder, policy } from '../cli/policy-runner.ts'
import { domainModels, tenants } from '../policy/domain-models.ts'
import { linesOf, recordOf } from '../replay/records.ts'
import { askAbout, asked, contractNames } from '../support/forward-auth.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const claim = { domain: { from: 'claim', claim: 'tenant' } }
const bearer = (tenant: string) => [`Authorization: Bearer ${tokenOf('editor', { tenant })}`]

describe('forward-auth', () => {
  test.each(contractNames)('asks with the claim of the token: %s', async (contract) => {
    const postern = await startPostern({
      ...{ model: tenants, rules: ['editor, north, /orders/*, GET'] },
      config: asked({ policy: claim }),
    })
    const status = async (headers: readonly string[]) =>
      (await askAbout(postern, contract, 'GET /orders/7', { headers })).status

    expect(await status(bearer('north'))).toBe(200)
    expect(await status(bearer('south'))).toBe(403)
    expect(await status([`Authorization: Bearer ${tokenOf('editor')}`])).toBe(403)
  })

  test('asks with the host that the proxy reports, without routes for hosts', async () => {
    const status = async (host: string) => {
      const postern = await startPostern({
        ...{ model: tenants, rules: [`editor, ${host}, /orders/*, GET`] },
        config: asked({ policy: { domain: { from: 'host' } } }),
      })
      return (await askAbout(postern, 'traefik', 'GET /orders/7', { as: 'editor' })).status
    }

    expect(await status('shop.example')).toBe(200)
    expect(await status('gateway.test')).toBe(403)
  })
})

describe('the Destination of MOVE', () => {
  test('is asked about in the domain of the request', async () => {
    const postern = await startPostern({
      model: tenants.replace('r.act == p.act', '(r.act == p.act || p.act == "*")'),
      rules: [
        ...['editor, north, /dav/*, *', 'editor, south, /dav/mine/*, *'],
        'editor, west, /dav/yours/*, *',
      ],
      config: { policy: claim },
    })
    const status = async (tenant: string, destination: string) => {
      const headers = [`Destination: ${destination}`]
      const token = tokenOf('editor', { tenant })
      return (await postern.call('MOVE /dav/mine/a', { token, headers })).status
    }

    expect(await status('north', '/dav/yours/b')).toBe(200)
    expect(await status('south', '/dav/mine/b')).toBe(200)
    await status('south', '/dav/yours/b')
    await status('west', '/dav/yours/b')
    // Neither the rule of another domain nor that of the other path reaches the upstream.
    expect(postern.upstream.requests).toHaveLength(2)
  })
})

describe('commands and the gateway', () => {
  const roles = ['editor', 'clerk', 'viewer']
  const domains = ['north', 'south', 'west']
  const rules = [
    ...['clerk, north, /orders/:id, GET', 'clerk, south, /orders/:id, PUT, allow'],
    ...['clerk, *, /help/*, GET', 'viewer, south, /*, GET', 'viewer, *, /orders/9, GET, deny'],
    ...['editor, north, /orders/:id, DELETE', 'clerk, west, /help/secret, GET, deny'],
  ]
  const model = domainModels['deny overrides'] ?? ''

  test('agree about random calls, whether the tenant is a claim or the host', async () => {
    const inheritances = ['editor, clerk, north', 'viewer, clerk, south']
    for (const from of ['claim', 'host'] as const) {
      const postern = await startPostern({
        ...{ model, rules, inheritances },
        config: { policy: { domain: { from, ...(from === 'claim' && { claim: 'tenant' }) } } },
      })
      let served = 0
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...roles),
          fc.constantFrom(...domains),
          fc.constantFrom('GET', 'PUT', 'DELETE'),
          fc.constantFrom('/orders/7', '/orders/9', '/help/a', '/help/secret', '/other'),
          async (role, domain, method, path) => {
            const reached = postern.upstream.requests.length
            await postern.call(`${method} ${path}`, {
              token: tokenOf(role, from === 'claim' ? { tenant: domain } : {}),
              ...(from === 'host' && { host: domain }),
            })
            const isServed = postern.upstream.requests.length > reached
            const cwd = postern.dataDirectory
            const where = ['--policies', postern.policyDirectory, '--domain', domain]
            const explained = await policy(['explain', role, method, path, ...where], { cwd })
            const who = await policy(['who', method, path, ...where, '--output', 'json'], { cwd })
            const named = JSON.parse(who.out).roles.map((each: { roleKey: string }) => each.roleKey)
            const about = `${role} ${domain} ${method} ${path}\n${explained.out}`
            expect([about, explained.code === 0]).toEqual([about, isServed])
            expect([about, named.includes(role)]).toEqual([about, isServed])
            if (isServed) served++
          },
        ),
        { numRuns: 60 },
      )
      expect(served).toBeGreaterThan(5)
    }
  })
})

describe('replay', () => {
  test('asks in the recorded domain', async () => {
    const record = (request: string, domain: string | undefined) => {
      const { method, ...rest } = recordOf({ request_id: request })
      return { ...rest, ...(domain !== undefined && { domain }), method }
    }
    const cwd = await folder({
      'policies/model.conf': tenants,
      'policies/policy.csv': 'p, clerk, north, /orders/:id, GET\n',
      'log.jsonl': linesOf(
        record('q-1', 'north'),
        record('q-2', 'south'),
        record('q-3', undefined),
      ),
    })

    const { out } = await policy(['replay', 'log.jsonl'], { cwd })

    expect(out).toContain('for example /orders/7 in south (request q-2)')
    expect(out).toContain('could not replay 1 decision: 1 without domain')
    expect(out).toContain('1 unchanged, 1 would be denied')
  })
})
