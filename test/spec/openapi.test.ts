import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listOwnEndpoints } from '../../src/admission/own-endpoints.ts'
import { createOpsEndpoints, type OpsParts } from '../../src/http/ops-endpoints.ts'
import { closeOpsServer, createOpsServer } from '../../src/http/ops-server.ts'
import { listen } from '../../src/http/port/listen.ts'
import { Fault } from '../../src/kernel/errors.ts'
import { readOpenApi } from '../../src/openapi/document.ts'
import { type DocumentedAnswer, documentedOperations } from '../support/documented.ts'
import { oidcSettings, startFakeProvider } from '../support/fake-provider.ts'
import {
  ask,
  askAbout,
  asked,
  type ContractName,
  contractNames,
  contracts,
} from '../support/forward-auth.ts'
import { settingsOf, startIssuer } from '../support/issuer-server.ts'
import { mountKeys, newKey, signedBy } from '../support/keys.ts'
import { goodLogin, postLogin } from '../support/log-in.ts'
import {
  goodForm,
  navigation,
  postForm,
  readCaptcha,
  startWithPage,
} from '../support/login-page.ts'
import { OidcBrowser } from '../support/oidc-browser.ts'
import { type RawAnswer, request, sendRaw } from '../support/raw-client.ts'
import { startReplicas, tokenFrom } from '../support/session-replicas.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const file = 'docs/openapi.yaml'
const operations = documentedOperations(file)
const json = 'Content-Type: application/json'

function operation(name: string) {
  const found = operations.find((each) => each.name === name)
  if (found === undefined) throw new Error(`${file} has no ${name}`)
  return found
}

const namesOf = (tag: string) =>
  operations.filter(({ tags }) => tags.includes(tag)).map(({ name }) => name)

interface PageCall {
  readonly target?: string
  readonly headers?: readonly string[]
}

/** What the tests have seen of each operation. */
const seen = new Map<string, Set<string>>()

/** Expects that the document has this answer, in its form, under this operation. */
function expectDocumented(name: string, answer: DocumentedAnswer): void {
  const shown = `${name}: ${answer.status} ${answer.body.slice(0, 200)}`
  expect(operation(name).misfits(answer), shown).toEqual([])
  seen.set(name, (seen.get(name) ?? new Set()).add(String(answer.status)))
}

async function onOpsPort(
  { opsPort }: Pick<TestPostern, 'opsPort'>,
  path: string,
): Promise<RawAnswer> {
  const { answers } = await sendRaw(opsPort, request(`GET ${path}`, []))
  const [answer] = answers
  if (answer === undefined) throw new Error(`no answer to ${path}`)
  return answer
}

describe('docs/openapi.yaml', () => {
  test('is read without a problem or a note, and has the version of the program', async () => {
    const { version, notes, operations: read } = await readOpenApi({ path: file, name: file })
    const { version: program } = JSON.parse(readFileSync('package.json', 'utf8'))

    expect({ version, notes }).toEqual({ version: '3.1.0', notes: [] })
    expect(read.map(({ method, path }) => `${method} ${path}`)).toEqual(
      operations.map(({ name }) => name),
    )
    expect(readFileSync(file, 'utf8')).toContain(`\n  version: ${program}\n`)
  })

  test('has every own endpoint of the public port, and no other', () => {
    const gateway = 'gateway'
    const own = listOwnEndpoints({
      ...{ logout: gateway, profile: gateway, password: gateway },
      captchaAlias: true,
      oidc: [{ name: '{provider}', logout: { backChannel: true } }],
      page: { enabled: true, path: '/login', logo: 'logo.svg' },
    })
    // `OPTIONS *` has no path that OpenAPI could name.
    const named = own.filter(({ path }) => path !== '*')

    expect(namesOf('public').toSorted()).toEqual(
      named.map(({ allow, path }) => `${allow} ${path}`).toSorted(),
    )
    for (const { allow, path, open } of named) {
      expect(operation(`${allow} ${path}`).needsToken, path).toBe(!open)
    }
  })

  test('has every endpoint of the ops port and of forward-auth, and no other', () => {
    const served = [...createOpsEndpoints(opsParts()).keys()].map((path) => `GET ${path}`)
    expect(namesOf('ops').toSorted()).toEqual(served.toSorted())
    const checks = contractNames.map((name) => checkOf[name])
    expect(namesOf('forward-auth').toSorted()).toEqual(checks.toSorted())
  })
})

describe('the running gateway answers as docs/openapi.yaml says', () => {
  test('on the public port', async () => {
    // An account of its own: the database is that of all tests.
    const user = await (await startReplicas({})).addUser()
    const postern = await startPostern({
      config: {
        application: { mode: 'dev' },
        captcha: { alias: true },
        tokens: { service: { enabled: true } },
        login: { perAddressPerMinute: 1000, captchaPerAddressPerMinute: 2 },
      },
    })
    const post = (path: string, token: string, fields: unknown) =>
      postern.call(`POST ${path}`, { token, headers: [json], body: JSON.stringify(fields) })

    const login = 'POST /api/v1/login'
    const good = goodLogin(postern)
    expect(operation(login).acceptsBody(good)).toBe(true)
    expect(operation(login).acceptsBody({ ...good, code: '' })).toBe(false)
    expectDocumented(login, await postLogin(postern, good))
    expectDocumented(login, await postLogin(postern, {}))
    for (let turn = 0; turn < 6; turn++) {
      expectDocumented(login, await postLogin(postern, { ...good, username: 'nobody' }))
    }

    for (const captcha of ['GET /api/v1/getCaptcha', 'GET /api/v1/captcha']) {
      expectDocumented(captcha, await postern.call(captcha))
    }
    for (const captcha of ['GET /api/v1/getCaptcha', 'GET /api/v1/captcha']) {
      const limited = await postern.call(captcha)
      expect(limited.json()).toMatchObject({ code: 429 })
      expectDocumented(captcha, limited)
    }

    const [token, service] = [
      await tokenFrom(postern, user),
      tokenOf('editor', { kind: 'service' }),
    ]
    const profile = 'GET /api/v1/user/profile'
    expectDocumented(profile, await postern.call(profile))
    expectDocumented(profile, await postern.call(profile, { token }))
    expectDocumented(profile, await postern.call(profile, { token: tokenOf('x') }))

    const password = '/api/v1/user/password'
    const fields = { oldPassword: user.password, newPassword: 'words and words' }
    const change = `POST ${password}`
    expect(operation(change).acceptsBody(fields)).toBe(true)
    expect(operation(change).acceptsBody({ newPassword: 'words and words' })).toBe(false)
    const codes: unknown[] = []
    for (const answer of [
      await postern.call(change, { body: '' }),
      await post(password, token, {}),
      await post(password, token, { ...fields, newPassword: 'password' }),
      await post(password, service, fields),
      await post(password, token, fields),
    ]) {
      expectDocumented(change, answer)
      codes.push((answer.json() as { code: number }).code)
    }
    expect(codes).toEqual([401, 400, 400, 403, 200])
    const wrong = { oldPassword: 'wrong', newPassword: 'more and more words' }
    const answers: RawAnswer[] = []
    for (let turn = 0; turn < 6; turn++) answers.push(await post(password, token, wrong))
    for (const answer of answers) expectDocumented(change, answer)
    expect(answers.at(-1)?.json()).toMatchObject({ code: 429 })

    const logout = 'POST /api/v1/logout'
    expectDocumented(logout, await postern.call(logout, { token, body: '' }))
    expectDocumented(logout, await postern.call(logout, { token, body: '' }))
  })

  test('on the public port, to a user of another issuer', async () => {
    const issuer = await startIssuer()
    const postern = await startPostern({ issuers: [settingsOf(issuer)] })
    const token = issuer.token()
    const profile = () => postern.call('GET /api/v1/user/profile', { token })
    // Until the gateway has the keys of the issuer.
    await until(async () => (await profile()).status === 200)

    const body = JSON.stringify({ oldPassword: 'a', newPassword: 'words and words' })
    const answers = {
      'GET /api/v1/user/profile': await profile(),
      'POST /api/v1/user/password': await postern.call('POST /api/v1/user/password', {
        ...{ token, headers: [json], body },
      }),
    }
    for (const [name, answer] of Object.entries(answers)) {
      expect(answer.json(), name).toMatchObject({ code: 403 })
      expectDocumented(name, answer)
    }
    const logout = 'POST /api/v1/logout'
    expectDocumented(logout, await postern.call(logout, { token, body: '' }))
  })

  test('on the public port, to logins with a provider', async () => {
    const provider = await startFakeProvider()
    const appRedirectUris = ['http://127.0.0.1:22001/']
    const logout = { backChannel: true }
    const oidc = [oidcSettings(provider.issuer, { appRedirectUris, logout })]
    const cookie = { set: true }
    const postern = await startPostern({ ownDatabase: true, config: { cookie, login: { oidc } } })
    const browser = new OidcBrowser()
    const begin = 'GET /api/v1/login/oidc/{provider}'

    for (const query of ['', '?mode=json', '?mode=json&redirectUri=https://other.test/']) {
      const answer = await browser.send(postern, `GET /api/v1/login/oidc/corp${query}`)
      expectDocumented(begin, answer)
    }
    const good = provider.approve(await browser.begin(postern, 'corp'))
    for (const status of [303, 200]) {
      const answer = await browser.callback(postern, 'corp', good)
      expect(answer.status).toBe(status)
      expectDocumented(`${begin}/callback`, answer)
    }
    const key = provider.keys['first'] ?? newKey('RS256')
    const iat = Math.floor(Date.now() / 1000)
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const claims = { iss: provider.issuer, aud: 'postern', iat, jti: 'once', sid: 'x', events }
    for (const status of [200, 400]) {
      const answer = await postern.call('POST /api/v1/login/oidc/corp/backchannel-logout', {
        headers: ['Content-Type: application/x-www-form-urlencoded'],
        body: `logout_token=${signedBy(key, { kid: 'first' }, claims)}`,
      })
      expect(answer.status).toBe(status)
      expectDocumented('POST /api/v1/login/oidc/{provider}/backchannel-logout', answer)
    }
  })

  test('on the public port, to malformed requests', async () => {
    const oidc = [oidcSettings('http://127.0.0.1:9', { logout: { backChannel: true } })]
    const page = { enabled: true, logo: 'docs/performance.svg' }
    const postern = await startPostern({
      config: { captcha: { alias: true }, cookie: { set: true }, login: { oidc, page } },
    })
    const token = tokenOf('editor')

    for (const name of namesOf('public')) {
      const body = name.startsWith('POST') ? { body: '' } : {}
      const call = (headers: readonly string[], query = '') =>
        postern.call(`${name.replace('{provider}', 'corp')}${query}`, { token, headers, ...body })
      expectDocumented(name, await call(['Host: other.test']))
      expectDocumented(name, await call(['Expect: magic']))
      expectDocumented(name, await call([], `?x=${'x'.repeat(9000)}`))
      expectDocumented(name, await call([`X-Large: ${'x'.repeat(40_000)}`]))
    }
  })

  test('on the public port, with real statuses', async () => {
    const postern = await startPostern({
      config: {
        application: { mode: 'dev' },
        captcha: { alias: true },
        refusals: { status: 'real' },
        tokens: { service: { enabled: true } },
        login: { perAddressPerMinute: 2, captchaPerAddressPerMinute: 1 },
      },
      verifyPassword: async () => undefined,
    })
    const statuses: number[] = []
    const see = async (name: string, options: Parameters<typeof postern.call>[1] = {}) => {
      const answer = await postern.call(name, options)
      expectDocumented(name, answer)
      statuses.push(answer.status)
    }
    const service = tokenOf('editor', { kind: 'service' })
    const change = JSON.stringify({ oldPassword: 'a', newPassword: 'words and words' })
    const wrong = { headers: [json], body: JSON.stringify(goodLogin(postern)) }

    for (let turn = 0; turn < 3; turn++) await see('POST /api/v1/login', wrong)
    await postern.call('GET /api/v1/getCaptcha')
    for (const name of ['getCaptcha', 'captcha']) await see(`GET /api/v1/${name}`)
    await see('POST /api/v1/logout', { body: '' })
    await see('GET /api/v1/user/profile')
    await see('POST /api/v1/user/password', { headers: [json], body: change })
    const caller = { token: service, headers: [json], body: change }
    await see('POST /api/v1/user/password', caller)
    await see('POST /api/v1/user/password', { ...caller, from: '127.0.0.9' })

    expect(statuses).toEqual([400, 400, 429, 429, 429, 401, 401, 401, 429, 403])
  })

  test('on the login page', async () => {
    const postern = await startWithPage({
      config: {
        login: {
          page: { logo: 'docs/performance.svg' },
          oidc: [oidcSettings('http://127.0.0.1:9')],
        },
      },
    })
    const failed = await new OidcBrowser().callback(postern, 'corp', {})
    expectDocumented('GET /api/v1/login/oidc/{provider}/callback', failed)
    const get = async (path: string, { target = path, ...options }: PageCall = {}) => {
      const answer = await postern.call(`GET ${target}`, options)
      expectDocumented(`GET ${path}`, answer)
      return answer
    }
    const post = async (path: string, fields: Record<string, string>, headers?: string[]) => {
      expectDocumented(`POST ${path}`, await postForm(postern, path, fields, headers))
    }
    const page = await get('/login')
    for (const name of ['style.css', 'script.js', 'icon.svg', 'logo']) await get(`/login/${name}`)
    const { source, ...captcha } = await readCaptcha(postern, page.body)
    await get('/login/captcha.png', { target: source })
    await get('/login/captcha.png')
    const target = source.replace('.png', '.wav')
    await get('/login/captcha.wav', { target })
    await get('/login/captcha.wav', { target, headers: ['Range: bytes=0-1'] })
    await get('/login/captcha.wav')
    await post('/login', {})
    const { uuid, code } = captcha
    await post('/login', { ...goodForm(postern), uuid, code })

    const cookie = `Cookie: jwt=${tokenOf('editor')}`
    for (const path of ['/login/password', '/login/logout']) {
      await get(path, { headers: navigation })
      await get(path, { headers: [cookie] })
      await post(path, {})
      await post(path, {}, [cookie, 'Sec-Fetch-Site: cross-site'])
    }
    await post('/login/password', {}, [cookie, 'Sec-Fetch-Site: same-origin'])
    await post('/login/logout', {}, [cookie, 'Sec-Fetch-Site: same-origin'])
  })

  test('on the public port, where a part fails', async () => {
    const errors = [new Fault('database'), new TypeError('a bug of this test')]
    const postern = await startPostern({
      config: { application: { mode: 'dev' } },
      verifyPassword: async () => {
        throw errors.shift() ?? new Error('asked too often')
      },
    })

    for (const status of [503, 500]) {
      const answer = await postLogin(postern, goodLogin(postern))
      expect(answer.status).toBe(status)
      expectDocumented('POST /api/v1/login', answer)
    }
  })

  test('on the ops port', async () => {
    const { directory } = await mountKeys({ 'a.pem': newKey('ES256').privatePem })
    const jwt = { secret: undefined, keyDirectory: directory }
    const postern = await startPostern({ config: { jwt } })

    for (const name of namesOf('ops')) {
      const [, path = ''] = name.split(' ')
      expectDocumented(name, await onOpsPort(postern, path))
    }
    const verbose = await onOpsPort(postern, '/readyz?verbose')
    expectDocumented('GET /readyz', verbose)
    expect(Object.keys(verbose.json() as object).length).toBeGreaterThan(3)
    const keys = await onOpsPort(postern, '/.well-known/jwks.json')
    expect(keys.json()).toMatchObject({ keys: [{ kid: 'a', alg: 'ES256' }] })
  })

  test('on the ops port, where it is not ready and does not know its keys', async () => {
    const problems = [{ name: 'policy', problem: 'no policy is loaded' }]
    const server = createOpsServer(
      opsParts({
        readiness: () => ({ ready: false, revision: null, problems }),
        publicKeys: async () => undefined,
      }),
    )
    const opsPort = await listen(server, { host: '127.0.0.1', port: 0 })
    onTestFinished(() => closeOpsServer(server))

    for (const path of ['/readyz', '/.well-known/jwks.json']) {
      const answer = await onOpsPort({ opsPort }, path)
      expect(answer.status).toBe(503)
      expectDocumented(`GET ${path}`, answer)
    }
  })

  test.each(contractNames)('to a forward-auth request of %s', async (name) => {
    const limited = { path: '/limited', upstream: 'backend', limit: { requests: 1, seconds: 3600 } }
    const postern = await startPostern({
      config: asked(),
      routes: [{ path: '/api', upstream: 'backend' }, limited],
      rules: ['editor, /*, GET'],
    })
    const check = async (
      target: string,
      options: { as?: string; method?: string; headers?: string[] } = {},
    ) => {
      const { as, method = 'GET', headers = [] } = options
      const { line, headers: own } = contracts[name](method, target)
      const sent = { headers: [...own, ...headers], ...(as !== undefined && { as }) }
      return ask(postern, line, sent)
    }

    const statuses: number[] = []
    for (const answer of [
      await check('/api/a', { as: 'editor' }),
      await check('/api//a', { as: 'editor' }),
      await check('/api/a'),
      await check('/api/a', { as: 'viewer' }),
      await check('/api/v1/login', { as: 'editor' }),
      await check('/api/a', { as: 'editor', method: 'TRACE' }),
      await check(`/api/${'x'.repeat(9000)}`, { as: 'editor' }),
      await check('/api/a', { as: 'editor', headers: ['Expect: magic'] }),
      await check('/limited', { as: 'editor' }),
      await check('/limited', { as: 'editor' }),
      await check('/api/a', { as: 'editor', headers: [`X-Large: ${'x'.repeat(40_000)}`] }),
    ]) {
      expectDocumented(checkOf[name], answer)
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([200, 400, 401, 403, 404, 405, 414, 417, 200, 429, 431])
  })

  test.each(contractNames)('to a browser that %s asks about', async (name) => {
    const postern = await startWithPage({ config: asked() })

    const answer = await askAbout(postern, name, 'GET /a', { headers: navigation })

    expectDocumented(checkOf[name], answer)
    expect(answer.status).toBe(name === 'nginx' ? 401 : 302)
  })

  test('and every documented status occurs, but for those that need a slow or broken part', () => {
    const unseen = operations.flatMap(({ name, statuses }) =>
      statuses.filter((status) => !seen.get(name)?.has(status)).map((each) => `${name} ${each}`),
    )

    // 408 takes the timeout of a body, 413 a flood of chunk extensions, 500 a bug, 503 an outage.
    const rare = / (?:408|413|500|503)$/
    // With real statuses, these need an account or a token of another system, or a second factor.
    const real = /(?:login|callback|profile) 403$|login 428$|callback 429$/
    expect(unseen.filter((each) => !rare.test(each) && !real.test(each))).toEqual([])
    expect(seen.get('POST /api/v1/login')).toContain('503')
  })
})

function opsParts(parts: Partial<OpsParts> = {}): OpsParts {
  return {
    ...{ version: '', mode: '', publicKeys: () => [], upstreams: () => [], replicas: () => [] },
    readiness: () => ({ ready: true, revision: null, problems: [] }),
    metrics: { contentType: '', text: async () => '' },
    ...parts,
  }
}

const checkOf: Readonly<Record<ContractName, string>> = {
  nginx: 'GET /auth/nginx',
  traefik: 'GET /auth/traefik',
  envoy: 'GET /auth/envoy/{path}',
}
