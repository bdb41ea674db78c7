import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { keySetOf } from './issuer-server.ts'
import { newKey, signedBy, type TestKey } from './keys.ts'
import { nowSeconds } from './tokens.ts'

type Claims = Readonly<Record<string, unknown>>

/** A provider on loopback that sends whatever ID token a test wants. */
export interface FakeProvider {
  readonly issuer: string
  /** Keys that it publishes, by kid. */
  keys: Readonly<Record<string, TestKey>>
  /** The claims that the next ID tokens have over the usual ones; `undefined` removes one. */
  claims: Claims
  /** Makes the ID token of these claims; a good one unless set. */
  sign: ((claims: Claims) => string) | undefined
  /** Answers every request instead, when set. */
  answer: RequestListener | undefined
  /** The bodies of requests to the token endpoint, and their Authorization headers. */
  readonly exchanges: { readonly body: URLSearchParams; readonly authorization: string }[]
  /** Members of the discovery document, over the usual ones. */
  discovery: Claims
  /** What the browser brings back after a login at this address. */
  approve(authorization: URL, claims?: Claims): Readonly<Record<string, string>>
  stop(): Promise<void>
  start(): Promise<void>
}

export const fakeClient = { clientId: 'postern', clientSecret: 'a-secret-of-the-client' } as const

/** Starts one with an RS256 key. Stops with the test. */
export async function startFakeProvider(): Promise<FakeProvider> {
  const codes = new Map<string, { challenge: string; claims: Claims; redirectUri: string }>()
  const listen: RequestListener = (request, response) => {
    if (fake.answer !== undefined) return fake.answer(request, response)
    response.setHeader('content-type', 'application/json')
    const path = request.url ?? ''
    if (path.endsWith('/openid-configuration')) return response.end(JSON.stringify(document()))
    if (path === '/keys') return response.end(keySetOf(fake.keys))
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = new URLSearchParams(Buffer.concat(chunks).toString())
      fake.exchanges.push({ body, authorization: request.headers.authorization ?? '' })
      const found = codes.get(body.get('code') ?? '')
      codes.delete(body.get('code') ?? '')
      const verifier = createHash('sha256').update(body.get('code_verifier') ?? '')
      const isGood =
        found !== undefined &&
        verifier.digest('base64url') === found.challenge &&
        body.get('redirect_uri') === found.redirectUri
      if (!isGood) {
        response.statusCode = 400
        return response.end('{"error":"invalid_grant"}')
      }
      const id_token = sign({ ...found.claims, ...fake.claims })
      const tokens = { access_token: 'an-access-token', token_type: 'Bearer', id_token }
      return response.end(JSON.stringify(tokens))
    })
  }
  let server = createServer(listen).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`

  function document() {
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      end_session_endpoint: `${issuer}/logout`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256'],
      ...fake.discovery,
    }
  }

  function sign(claims: Claims): string {
    if (fake.sign !== undefined) return fake.sign(claims)
    const [kid, key] = Object.entries(fake.keys).at(-1) ?? []
    if (key === undefined) throw new Error('no key')
    return signedBy(key, { kid }, claims)
  }

  async function stop(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  const fake: FakeProvider = {
    issuer,
    keys: { first: newKey('RS256') },
    claims: {},
    sign: undefined,
    answer: undefined,
    exchanges: [],
    discovery: {},
    approve(authorization, claims = {}) {
      const asked = authorization.searchParams
      const code = randomUUID()
      const now = nowSeconds()
      codes.set(code, {
        challenge: asked.get('code_challenge') ?? '',
        redirectUri: asked.get('redirect_uri') ?? '',
        claims: {
          ...{ iss: issuer, aud: asked.get('client_id'), sub: 'subject-of-ada' },
          ...{ nonce: asked.get('nonce'), iat: now, exp: now + 300, sid: 'session-1' },
          ...{ preferred_username: 'ada', name: 'Ada', groups: ['staff'], ...claims },
        },
      })
      return { code, state: asked.get('state') ?? '' }
    },
    stop,
    async start() {
      server = createServer(listen).listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
  onTestFinished(stop)
  return fake
}

/** The settings of a gateway for it. */
export function oidcSettings(issuer: string, more: Claims = {}): Claims {
  const { name = 'corp' } = more
  return {
    ...{ name, issuer, ...fakeClient },
    redirectUri: `http://127.0.0.1:22000/api/v1/login/oidc/${name}/callback`,
    roles: [{ value: 'staff', role: 'editor' }],
    create: true,
    ...more,
  }
}
