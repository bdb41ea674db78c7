import { describe, expect, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { widestModel } from '../policy/policy-text.ts'
import { folder, policy } from './policy-runner.ts'

const files = {
  'config/postern.yaml': `
application: { mode: dev }
upstreams: { app: { targets: [http://127.0.0.1:9] } }
routes:
  - { path: /orders, upstream: app }
  - { path: /invoices, upstream: app, methods: [GET, HEAD] }
  - { path: /status, upstream: app, match: exact, access: public, reason: Probes have no token. }
`,
  'policies/model.conf': formatModel(widestModel),
  'policies/policy.csv': `p, clerk, /orders/:id, GET, allow
p, lead, /orders/*, *, allow
g, chief, clerk
`,
  'policies/exclusions.yaml': '- { method: GET, path: /orders/help, reason: Help. }\n',
}

describe('postern policy names', () => {
  test('lists roles, patterns of rules and exclusions, routes and endpoints, each once', async () => {
    const { code, out } = await policy(['names', '--output', 'json'], { cwd: await folder(files) })
    const { roles, operations, policy: name } = JSON.parse(out)

    expect(code).toBe(0)
    expect(name).toBe('policies')
    expect(roles).toEqual(['admin', 'chief', 'clerk', 'lead'])
    expect(operations).toContainEqual({ method: '*', path: '/orders/*', from: ['rule', 'route'] })
    expect(operations).toContainEqual({ method: 'GET', path: '/orders/help', from: ['exclusion'] })
    expect(operations).toContainEqual({ method: 'HEAD', path: '/invoices/*', from: ['route'] })
    expect(operations).toContainEqual({ method: '*', path: '/status', from: ['route'] })
    expect(operations).toContainEqual({ method: 'POST', path: '/api/v1/login', from: ['endpoint'] })
    expect(new Set(operations.map((each: object) => JSON.stringify(each))).size).toBe(
      operations.length,
    )
  })

  test('prints them for people too', async () => {
    const { code, out } = await policy(['names'], { cwd: await folder(files) })

    expect(code).toBe(0)
    expect(out).toMatch(/^4 roles, \d+ operations\n {2}policy +policies, r-/)
    expect(out).toMatch(/^ {2}GET +\/orders\/:id +rule$/m)
  })
})

const document = `openapi: 3.0.3
info: { title: Orders, version: '1' }
paths:
  /orders/{orderId}: { get: { responses: {} }, delete: { responses: {} } }
  /orders/{id}.pdf: { get: { responses: {} } }
  /elsewhere/{a.b}/parts: { get: { responses: {} } }
`
const documented = {
  ...files,
  'config/postern.yaml': `${files['config/postern.yaml']}policy: { openapi: [../orders.yaml] }\n`,
  'orders.yaml': document,
}

describe('the documents of policy.openapi', () => {
  test('add operations to the names, in the words of rules', async () => {
    const { out } = await policy(['names', '--output', 'json'], { cwd: await folder(documented) })
    const { operations, notes } = JSON.parse(out)

    expect(operations).toContainEqual({
      ...{ method: 'GET', path: '/orders/:id', from: ['rule', 'openapi'] },
    })
    expect(operations).toContainEqual({
      ...{ method: 'DELETE', path: '/orders/:orderId', from: ['openapi'] },
    })
    expect(operations).toContainEqual({
      ...{ method: 'GET', path: '/elsewhere/:a_b/parts', from: ['openapi'] },
    })
    expect(out).not.toContain('pdf')
    expect(notes).toEqual([])
  })

  test('add rows to the matrix, and hide no route without a rule', async () => {
    const rows = async (more: object) => {
      const cwd = await folder({ ...documented, 'policies/policy.csv': rule, ...more })
      const { out } = await policy(['matrix', '--output', 'json'], { cwd })
      return JSON.parse(out)
    }
    const rule = 'p, clerk, /orders/:id, GET, allow\n'
    const { operations, unserved } = await rows({})
    const other = 'p, clerk, /invoices/7, GET, allow\n'
    const { routesWithoutRule } = await rows({
      ...{ 'policies/policy.csv': other, 'policies/exclusions.yaml': '[]\n' },
    })

    expect(operations.map(({ method, path }: Call) => `${method} ${path}`)).toEqual(
      expect.arrayContaining(['GET /orders/:id', 'DELETE /orders/:orderId']),
    )
    const removed = operations.find(({ method }: Call) => method === 'DELETE')
    expect(removed.cells).toEqual({ admin: 'admin' })
    expect(unserved).toEqual([])
    expect(routesWithoutRule).toContain('/orders')
  })

  test('that cannot be read are a note, because decisions do not need them', async () => {
    const cwd = await folder({ ...documented, 'orders.yaml': 'openapi: 3.0.3\npaths: 7\n' })
    const { code, err } = await policy(['names'], { cwd })

    expect(code).toBe(0)
    expect(err).toMatch(/policy\.openapi: orders\.yaml:\d.*; ignored/)
  })
})

interface Call {
  readonly method: string
  readonly path: string
}

test('the matrix names what has no row: unserved and refused operations, routes without a rule', async () => {
  const more = {
    ...files,
    'policies/policy.csv': `${files['policies/policy.csv']}p, clerk, /missing, GET, allow
p, clerk, /api/v1/login, GET, allow
`,
  }
  const cwd = await folder(more)
  const { out } = await policy(['matrix', '--output', 'json', '--compact'], { cwd })

  expect(JSON.parse(out)).toMatchObject({
    unserved: [{ method: 'GET', path: '/missing' }],
    refused: [{ method: 'GET', path: '/api/v1/login' }],
    routesWithoutRule: ['GET,HEAD /invoices'],
  })
})
