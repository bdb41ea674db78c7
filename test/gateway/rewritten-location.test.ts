import { expect, test } from 'vitest'
import { rewriteLocation } from '../../src/gateway/headers/rewritten-location.ts'
import type { Received } from '../../src/gateway/stages.ts'
import { startPostern } from '../support/start-postern.ts'

const origins = new Set(['http://10.0.0.7:8080', 'http://orders.internal', 'https://[::1]:8443'])

function rewritten(value: string, route: object = { path: '/shop', replacePrefix: '/' }): string {
  const headers = ['location', value]
  rewriteLocation(headers, { route } as unknown as Received, { origins, sentHost: 'shop.internal' })
  return headers[1] ?? ''
}

test.each([
  ['http://10.0.0.7:8080/orders/7', '/shop/orders/7'],
  ['HTTP://Orders.Internal:80/orders/7?a=1#b', '/shop/orders/7?a=1#b'],
  ['https://[::1]:8443/', '/shop/'],
  ['http://orders.internal', '/shop/'],
  ['http://orders.internal?a=1', '/shop/?a=1'],
  ['https://shop.internal/orders/7', '/shop/orders/7'],
  ['/orders/7', '/shop/orders/7'],
  // From a service that knows X-Forwarded-Prefix.
  ['/shop/orders/7', '/shop/orders/7'],
  ['http://orders.internal/shop', '/shop'],
])('%s becomes %s', (value, own) => {
  expect(rewritten(value)).toBe(own)
})

test.each([
  'https://elsewhere.test/orders/7',
  'http://10.0.0.7:8081/orders/7',
  'https://10.0.0.7:8080/orders/7',
  'http://10.0.0.7:8080@evil.test/',
  'http://10.0.0.7:8080.evil.test/',
  'http://10.0.0.7:8080\\@evil.test/',
  'orders/7',
  '../7',
  '',
  'mailto:a@b.test',
  // A browser would read the rest as another host.
  '//evil.test/',
  '/\\evil.test/',
  'http://orders.internal//evil.test/',
  'http://orders.internal/\\evil.test/',
  'http://orders.internal/\t/evil.test/',
])('%j stays as it is', (value) => {
  expect(rewritten(value)).toBe(value)
  expect(rewritten(value, { path: '/' })).toBe(value)
})

test('a rewritten Location undoes a prefix of complete segments only', () => {
  const route = { path: '/api/v1/orders', replacePrefix: '/internal' }

  expect(rewritten('http://orders.internal/internal/7', route)).toBe('/api/v1/orders/7')
  expect(rewritten('/internal', route)).toBe('/api/v1/orders')
  expect(rewritten('/internals/7', route)).toBe('/internals/7')
  expect(rewritten('http://orders.internal/other', route)).toBe('http://orders.internal/other')
  expect(rewritten('/internal//evil.test', { path: '/', replacePrefix: '/internal' })).toBe(
    '/internal//evil.test',
  )
})

test.each([
  ['upstream', '/shop/new?x=1'],
  ['off', undefined],
])('a route with rewriteLocation %s relays the address of its target so', async (setting, own) => {
  const postern = await startPostern({
    rules: [],
    routes: [
      {
        path: '/shop',
        upstream: 'backend',
        access: 'public',
        reason: 'a shop',
        replacePrefix: '/',
        rewriteLocation: setting,
      },
    ],
  })
  const address = `http://127.0.0.1:${postern.upstream.port}/new?x=1`
  postern.upstream.answerWith((socket) =>
    socket.write(
      `HTTP/1.1 302 Found\r\nLocation: ${address}\r\nContent-Location: ${address}\r\nContent-Length: 0\r\n\r\n`,
    ),
  )

  const answer = await postern.call('GET /shop/old')

  expect(answer.header('Location')).toBe(own ?? address)
  expect(answer.header('Content-Location')).toBe(own ?? address)
})

test('a target with a weight has an address, too', async () => {
  const upstreams = { heavy: { targets: [{ url: 'http://127.0.0.1:9', weight: 3 }] } }

  await expect(startPostern({ config: { upstreams } })).resolves.toBeDefined()
})
