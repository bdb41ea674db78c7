import { describe, expect, test } from 'vitest'
import { canonicalHost } from '../../src/admission/canonical-host.ts'
import { routeLabel } from '../../src/admission/route-label.ts'
import { createRoutes } from '../../src/admission/route-table.ts'
import type { AccessRoute } from '../../src/admission/routes.ts'

const route = (settings: Omit<AccessRoute, 'access'>): AccessRoute => ({
  access: 'permitted',
  upstream: 'a',
  ...settings,
})

describe('the canonical host', () => {
  test.each([
    ['API.Example.com', 'api.example.com'],
    ['api.example.com.', 'api.example.com'],
    ['api.example.com:8443', 'api.example.com'],
    ['api.example.com.:80', 'api.example.com'],
    ['XN--Mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['order_service', 'order_service'],
    ['127.0.0.1:80', '127.0.0.1'],
    ['[0:0::0:1]:80', '[::1]'],
    ['[2001:DB8::1]', '[2001:db8::1]'],
  ])('of %s is %s', (raw, host) => {
    expect(canonicalHost(raw)).toBe(host)
    expect(canonicalHost(host)).toBe(host)
  })

  test.each([
    '',
    '.',
    'a..b',
    '.example.com',
    'example.com..',
    'user@example.com',
    'example.com:99999',
    'example.com:',
    'example.com/x',
    'a,b',
    'münchen.example',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '127.0.0.01',
    '[::1',
    '[fe80::1%eth0]',
    '[1.2.3.4]',
    '*.example.com',
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(127)}aa`,
  ])('does not exist for %j', (raw) => {
    expect(canonicalHost(raw)).toBeUndefined()
  })
})

describe('the order of precedence', () => {
  const routes = [
    route({ path: '/' }),
    route({ path: '/orders' }),
    route({ path: '/orders', match: 'exact' }),
    route({ path: '/orders', methods: ['POST', 'PUT'] }),
    route({ path: '/orders/new', methods: ['GET'] }),
    route({ path: '/x', hosts: ['*.example.com'] }),
    route({ path: '/x', hosts: ['*.eu.example.com'], name: 'europe' }),
    route({ path: '/', hosts: ['api.eu.example.com', 'api.example.com'] }),
    route({ path: '/x', hosts: ['api.example.com'], methods: ['GET'] }),
  ]
  const find = createRoutes(routes)

  test.each([
    // Without a host: any host only.
    ['GET', undefined, '/x', '/'],
    ['GET', undefined, '/orders', '=/orders'],
    ['POST', undefined, '/orders', '=/orders'],
    ['GET', undefined, '/orders/1', '/orders'],
    ['POST', undefined, '/orders/1', 'POST,PUT /orders'],
    ['GET', undefined, '/orders/new/1', 'GET /orders/new'],
    ['DELETE', undefined, '/orders/new/1', '/orders'],
    ['POST', undefined, '/orders/new/1', 'POST,PUT /orders'],
    ['GET', undefined, '/ordersx', '/'],
    // The host comes before the path, and a wildcard before any host.
    ['GET', 'api.eu.example.com', '/x', 'api.eu.example.com,api.example.com/'],
    ['GET', 'www.eu.example.com', '/x/1', 'europe'],
    ['GET', 'a.b.eu.example.com', '/x', 'europe'],
    ['GET', 'eu.example.com', '/x', '*.example.com/x'],
    ['GET', 'example.com', '/x', '/'],
    ['GET', 'badexample.com', '/x', '/'],
    ['GET', 'api.example.com', '/x', 'GET api.example.com/x'],
    ['POST', 'api.example.com', '/x', 'api.eu.example.com,api.example.com/'],
    // Falls through to the routes for any host.
    ['GET', 'www.example.com', '/orders', '=/orders'],
  ])('sends %s %s %s to %s', (method, host, path, label) => {
    const found = find(path, method, host)
    expect(found && routeLabel(found)).toBe(label)
  })

  test('finds no route where none fits', () => {
    const only = createRoutes([route({ path: '/a', hosts: ['*.example.com'], methods: ['GET'] })])
    expect(only('/a', 'GET', 'x.example.com')).toBeDefined()
    expect(only('/a', 'GET', 'example.com')).toBeUndefined()
    expect(only('/a', 'GET', undefined)).toBeUndefined()
    expect(only('/a', 'HEAD', 'x.example.com')).toBeUndefined()
    expect(only('/b', 'GET', 'x.example.com')).toBeUndefined()
  })
})
