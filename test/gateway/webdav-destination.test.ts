import { describe, expect, test } from 'vitest'
import { asked } from '../support/forward-auth.ts'
import { expectRejected } from '../support/outcomes.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { type PosternOptions, startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

function start(route: object = {}, config: PosternOptions['config'] = {}) {
  return startPostern({
    config,
    rules: ['editor, /dav/mine/*, *', 'reader, /dav/*, GET'],
    routes: [
      { path: '/', upstream: 'backend' },
      { path: '/dav', upstream: 'backend', ...route },
    ],
  })
}

const move = (destination: string) => ({
  as: 'editor',
  headers: [`Destination: ${destination}`, 'Overwrite: T'],
})

describe('the Destination of COPY and MOVE', () => {
  test.each([
    ['a path', '/dav/mine/b', '/dav/mine/b'],
    ['a URL of the same host', 'http://gateway.test/dav/mine/b', '/dav/mine/b'],
    ['another scheme, case and default port', 'HTTPS://Gateway.TEST:443/dav/mine/b', '/dav/mine/b'],
    ['another spelling', '/dav/mine/%62', '/dav/mine/b'],
  ])('goes out as a canonical path: %s', async (_, destination, sent) => {
    const postern = await start()

    for (const method of ['COPY', 'MOVE']) {
      await postern.call(`${method} /dav/mine/a`, move(destination))
    }

    expect(postern.upstream.requests.map((one) => one.values('Destination'))).toEqual([
      [sent],
      [sent],
    ])
    expect(postern.upstream.requests.map((one) => one.values('Overwrite'))).toEqual([['T'], ['T']])
  })

  test('has the prefix of the upstream', async () => {
    const postern = await start({ replacePrefix: '/remote.php' })

    await postern.call('MOVE /dav/mine/a', move('http://gateway.test/dav/mine/b'))

    const [sent] = postern.upstream.requests
    expect(sent?.target).toBe('/remote.php/mine/a')
    expect(sent?.values('Destination')).toEqual(['/remote.php/mine/b'])
  })

  test('needs permission, like the path of the request', async () => {
    const postern = await start()

    const answer = await postern.call('MOVE /dav/mine/a', move('/dav/yours/b'))

    expect(answer.json()).toMatchObject({ code: 401 })
    expect(postern.upstream.requests).toEqual([])
    expect(postern.logText()).toContain('for the Destination header')
  })

  test.each([
    'http://evil.test/dav/mine/b',
    'http://gateway.test:8080/dav/mine/b',
    'http://gateway.test@evil.test/dav/mine/b',
    'http://evil.test@gateway.test/dav/mine/b',
    '//evil.test/dav/mine/b',
    'ftp://gateway.test/dav/mine/b',
    'dav/mine/b',
    '/dav/mine/../../secret',
    '/dav/mine/%2e%2e/secret',
    '/dav/mine/a%2fb',
    '/dav/mine//b',
    '/dav/mine/b?x=1',
    '/dav/mine/b#x',
    '/dav/mine/100%25',
    '/other/b',
    '/',
    '/davmine',
    '/api/v1/login',
    '/api/v1/refresh_token',
  ])('%s is refused, even to admin', async (destination) => {
    const postern = await start()
    const sent = { ...move(destination), as: 'admin' }

    expectRejected(await postern.call('MOVE /dav/mine/a', sent), 400, postern.upstream)
  })

  test('is refused twice in one request', async () => {
    const postern = await start()
    const headers = ['Destination: /dav/mine/b', 'Destination: /dav/yours/b']

    const answer = await postern.call('COPY /dav/mine/a', { as: 'editor', headers })

    expectRejected(answer, 400, postern.upstream)
  })

  test('is checked on routes without the permission check, too', async () => {
    const postern = await start({ access: 'authenticated' })

    const refused = await postern.call('MOVE /dav/a', move('/other/b'))
    await postern.call('MOVE /dav/a', move('/dav/yours/b'))

    expect(refused.status).toBe(400)
    expect(postern.upstream.requests.map((one) => one.values('Destination'))).toEqual([
      ['/dav/yours/b'],
    ])
  })

  test('means nothing to other methods, and is left alone there', async () => {
    const postern = await start()

    await postern.call('GET /dav/mine/a', move('anything else'))

    expect(postern.upstream.requests[0]?.values('Destination')).toEqual(['anything else'])
  })

  test.each([
    ['/dav/mine/b', 200],
    ['/dav/yours/b', 403],
    ['/dav/mine/%62', 400],
  ])('is checked for another proxy: %s is %i', async (destination, status) => {
    const postern = await start({}, asked())
    const { answers } = await sendRaw(
      postern.forwardAuthPort ?? 0,
      request('GET /auth/nginx', [
        'X-Original-Method: MOVE',
        'X-Original-URI: /dav/mine/a',
        `Destination: ${destination}`,
        `Authorization: Bearer ${tokenOf('editor')}`,
      ]),
    )

    expect(answers[0]?.status).toBe(status)
  })

  test('must be in the request of the proxy, which may keep headers to itself', async () => {
    const postern = await start({}, asked())
    const { answers } = await sendRaw(
      postern.forwardAuthPort ?? 0,
      request('GET /auth/traefik', [
        'X-Forwarded-Method: MOVE',
        'X-Forwarded-Uri: /dav/mine/a',
        `Authorization: Bearer ${tokenOf('editor')}`,
      ]),
    )

    expect(answers[0]?.status).toBe(400)
  })
})
