import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { askAbout, asked } from '../support/forward-auth.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const service = tokenOf('editor', { kind: 'service' })
const other = tokenOf('admin', { kind: 'service', identity: 1 })
const person = tokenOf('editor')
const password = 'correct horse battery staple'

const basic = (secret: string, name = 'anyone') =>
  `Authorization: Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`

const start = (carriers: readonly string[], more: object = {}) =>
  startPostern({
    config: { tokens: { service: { enabled: true } }, ...more },
    rules: ['editor, /app/*, *', 'editor, /plain/*, *', 'admin, /app/*, *'],
    routes: [
      { path: '/app', upstream: 'backend', carriers },
      { path: '/plain', upstream: 'backend' },
    ],
  })

describe('a service token', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['in a header of its own', ['X-API-Key'], [`x-api-key: ${service}`]],
    ['as password of HTTP Basic', ['basic'], [basic(service)]],
    ['as password with an empty name', ['basic'], [basic(service, '')]],
    ['in one of several carriers', ['header', 'basic', 'X-API-Key'], [`X-Api-Key: ${service}`]],
  ])('is accepted %s and stripped', async (_, carriers, headers) => {
    const postern = await start(carriers)

    const answer = await postern.call('POST /app/x', { headers, body: '{}' })

    expect(answer.json()).toEqual({ ok: true })
    const [sent] = postern.upstream.requests
    expect(sent?.values('x-role-key')).toEqual(['editor'])
    expect([sent?.values('x-api-key'), sent?.values('authorization')]).toEqual([[], []])
    expect(JSON.stringify(sent)).not.toContain(service.slice(-24))
    expect(postern.logText()).not.toContain(service.slice(-24))
    expect(postern.logText()).toMatch(/"carrier":"(?:key|basic)"/)
  })

  test.each<[string, readonly string[], readonly string[], string]>([
    [
      'Bearer before all',
      ['header', 'X-API-Key'],
      [`Authorization: Bearer ${service}`, `X-API-Key: ${other}`],
      'editor',
    ],
    [
      'Basic before a key',
      ['basic', 'X-API-Key'],
      [basic(service), `X-API-Key: ${other}`],
      'editor',
    ],
    [
      'a key before a cookie',
      ['X-API-Key', 'cookie'],
      [`X-API-Key: ${service}`, `Cookie: jwt=${other}`],
      'editor',
    ],
    [
      'an empty key, then a cookie',
      ['X-API-Key', 'cookie'],
      ['X-API-Key: ', `Cookie: jwt=${service}`],
      'editor',
    ],
    [
      'a password of a person, then a cookie',
      ['basic', 'cookie'],
      [basic(password), `Cookie: jwt=${service}`],
      'editor',
    ],
  ])('of two carriers, the first counts: %s', async (_, carriers, headers, role) => {
    const postern = await start(carriers)

    await postern.call('GET /app/x', { headers })

    expect(postern.upstream.requests.map((one) => one.values('x-role-key'))).toEqual([[role]])
    expect(JSON.stringify(postern.upstream.requests)).not.toContain(other.slice(-24))
    expect(postern.upstream.requests[0]?.values('authorization')).toEqual([])
  })
})

describe('is refused and never forwarded', () => {
  test.each<[string, readonly string[], readonly string[], string]>([
    ['a key where the route names none', ['header'], [`X-API-Key: ${service}`], 'token-missing'],
    ['Basic where the route does not name it', ['header'], [basic(service)], 'token-missing'],
    ['a key in another header', ['X-API-Key'], [`X-API-Token: ${service}`], 'token-missing'],
    ['a key with an underscore', ['X-API-Key'], [`X_API_KEY: ${service}`], 'token-missing'],
    ['a key after Bearer', ['X-API-Key'], [`X-API-Key: Bearer ${service}`], 'token-invalid'],
    ['two keys', ['X-API-Key'], [`X-API-Key: ${service}`, `x-api-key: ${other}`], 'token-invalid'],
    [
      'a good and a bad key',
      ['X-API-Key'],
      [`X-API-Key: ${service}`, 'X-API-Key: x'],
      'token-invalid',
    ],
    [
      'a bad key before a good cookie',
      ['X-API-Key', 'cookie'],
      ['X-API-Key: x', `Cookie: jwt=${service}`],
      'token-invalid',
    ],
    [
      'a key that Connection removes',
      ['X-API-Key'],
      ['Connection: X-API-Key', `X-API-Key: ${service}`],
      'token-missing',
    ],
    ['the token of a person as key', ['X-API-Key'], [`X-API-Key: ${person}`], 'token-invalid'],
    ['the token of a person in Basic', ['basic'], [basic(person)], 'token-invalid'],
    ['the token as name', ['basic'], [basic('', service)], 'token-missing'],
    ['Basic without base64', ['basic'], [`Authorization: Basic x:${service}`], 'token-missing'],
    ['Basic with two values', ['basic'], [`${basic(service)}, ${basic(other)}`], 'token-missing'],
    ['Basic with a line break', ['basic'], [basic(`${service}\r\nX-User-Id: 1`)], 'token-missing'],
    [
      'Bearer where only Basic is read',
      ['basic'],
      [`Authorization: Bearer ${service}`],
      'token-missing',
    ],
    ['a password of a person', ['basic'], [basic(password, 'ada')], 'token-missing'],
    ['a key of another signer', ['X-API-Key'], [`X-API-Key: ${service}x`], 'token-invalid'],
    [
      'an expired key',
      ['X-API-Key'],
      [`X-API-Key: ${tokenOf('editor', { kind: 'service', exp: 1e9 })}`],
      'token-expired',
    ],
  ])('%s', async (_, carriers, headers, outcome) => {
    const postern = await start(carriers)

    const answer = await postern.call('GET /app/x', { headers })

    expect(answer.json()).toEqual({ code: 401, msg: expect.any(String) })
    expect(answer.status).toBe(carriers.includes('basic') ? 401 : 200)
    expect(postern.upstream.bytes()).toBe(0)
    expect(postern.logText()).toContain(`"outcome":"${outcome}"`)
    for (const secret of [service, other, person, password]) {
      const known = [secret, Buffer.from(secret).toString('base64').slice(4, -4)]
      for (const text of known) expect(postern.logText() + answer.body).not.toContain(text)
    }
  })

  test('Basic of a browser that another site makes it send', async () => {
    const postern = await start(['basic'])
    const headers = [basic(service), 'Sec-Fetch-Site: cross-site']

    await postern.call('POST /app/x', { headers, body: '{}' })

    expect(postern.upstream.bytes()).toBe(0)
    expect(postern.logText()).toContain('"outcome":"cross-site-cookie"')
  })
})

test('a service keeps its own API key and password, but never a service token in them', async () => {
  const postern = await start(['cookie'])
  const cookie = `Cookie: jwt=${service}`

  await postern.call('GET /app/x', { headers: [cookie, basic(password), 'X-API-Key: theirs'] })
  await postern.call('GET /app/x', { headers: [cookie, basic(other)] })

  const [own, ours] = postern.upstream.requests
  expect(own?.values('authorization')).toEqual([basic(password).replace('Authorization: ', '')])
  expect(own?.values('x-api-key')).toEqual(['theirs'])
  expect(ours?.values('authorization')).toEqual([])
})

test('another spelling of the key never reaches the service', async () => {
  const postern = await start(['X-API-Key', 'header'])
  const headers = [`X-API-Key: ${service}`, `X_API_Key: ${other}`, 'X.API.KEY: x', 'X-API: y']

  await postern.call('GET /app/x', { headers })

  expect(JSON.stringify(postern.upstream.requests)).not.toMatch(/x[._-]api[._-]key/i)
  expect(postern.upstream.requests[0]?.values('x-api')).toEqual(['y'])
})

describe('a challenge for Basic', () => {
  const challenge = 'Basic realm="postern", charset="UTF-8"'

  test('goes to programs on routes that name it, and to nobody else', async () => {
    const postern = await start(['basic', 'cookie'])
    const headers = ['Sec-Fetch-Site: none']

    const program = await postern.call('GET /app/x')
    const browser = await postern.call('GET /app/x', { headers })
    const elsewhere = await postern.call('GET /plain/x')

    expect([program.status, program.header('www-authenticate')]).toEqual([401, challenge])
    for (const { status, header } of [browser, elsewhere]) {
      expect([status, header('www-authenticate')]).toEqual([200, undefined])
    }
  })

  test('lets git log in by itself', async () => {
    const postern = await start(['basic'])
    const sha = 'a'.repeat(40)
    postern.upstream.answerWith((socket, { target }) => {
      const body = target.includes('info/refs')
        ? `${sha}\trefs/heads/main\n`
        : 'ref: refs/heads/main\n'
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
    })
    const url = `http://ci:${service}@127.0.0.1:${postern.publicPort}/app/repo.git`
    const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', no_proxy: '*' }

    const { stdout } = await promisify(execFile)('git', ['ls-remote', url], { env })

    expect(stdout).toContain(`${sha}\trefs/heads/main`)
    expect(postern.upstream.requests[0]?.values('x-role-key')).toEqual(['editor'])
    expect(postern.upstream.requests[0]?.values('authorization')).toEqual([])
  })
})

test('forward-auth identifies by key, and has Envoy remove it', async () => {
  const postern = await start(['X-API-Key'], asked())
  const headers = [`X-API-Key: ${service}`]

  const envoy = await askAbout(postern, 'envoy', 'GET /app/x', { headers })
  const nginx = await askAbout(postern, 'nginx', 'GET /app/x', { headers })

  expect([envoy.status, nginx.status]).toEqual([200, 200])
  expect(envoy.header('x-envoy-auth-headers-to-remove')).toContain('x-api-key')
  expect(nginx.header('x-role-key')).toBe('editor')
})

test('without features on, a key is an ordinary header', async () => {
  const postern = await start(['header'])
  await postern.call('GET /plain/x', {
    headers: [`Authorization: Bearer ${person}`, 'X-API-Key: k'],
  })

  expect(postern.upstream.requests[0]?.values('x-api-key')).toEqual(['k'])
})
