import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Certificates } from './certificates.ts'
import { newKey, signedBy, type TestKey } from './keys.ts'
import { nowSeconds, type TestClaims } from './tokens.ts'

/** An issuer on loopback, whose keys and behavior a test changes at any time. */
export interface IssuerServer {
  /** Its `iss`, and the origin of its addresses. */
  readonly issuer: string
  readonly jwksUri: string
  /** The requests for its keys so far: their headers. */
  readonly keyRequests: readonly Readonly<Record<string, string | string[] | undefined>>[]
  /** When they came, in milliseconds since 1970. */
  readonly keyTimes: readonly number[]
  /** The keys it publishes, by kid. */
  keys: Readonly<Record<string, TestKey>>
  /** Answers instead of publishing them; `undefined` resets it. */
  answer: RequestListener | undefined
  /** Members of the discovery document, over the usual ones. */
  discovery: Readonly<Record<string, unknown>>
  /** A token of this issuer for an editor, signed with the last of its keys. */
  token(claims?: TestClaims, header?: Readonly<Record<string, unknown>>): string
  stop(): Promise<void>
}

/** Starts it with one key; with certificates it speaks TLS. */
export async function startIssuer(certificates?: Certificates): Promise<IssuerServer> {
  const keyRequests: IssuerServer['keyRequests'][number][] = []
  const keyTimes: number[] = []
  const listen: RequestListener = (request, response) => {
    if (request.url === '/.well-known/openid-configuration') {
      const { jwksUri: jwks_uri } = server
      return response.end(JSON.stringify({ issuer: server.issuer, jwks_uri, ...server.discovery }))
    }
    keyRequests.push(request.headers)
    keyTimes.push(Date.now())
    if (server.answer !== undefined) return server.answer(request, response)
    return response.end(keySetOf(server.keys))
  }
  const http = await open(listen, certificates)
  const { port } = http.address() as AddressInfo
  const issuer =
    certificates === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`
  const server: IssuerServer = {
    issuer,
    jwksUri: `${issuer}/keys`,
    keyRequests,
    keyTimes,
    keys: { first: newKey('ES256') },
    answer: undefined,
    discovery: {},
    token(claims = {}, header = {}) {
      const [kid, key] = Object.entries(server.keys).at(-1) ?? []
      if (key === undefined) throw new Error('the issuer has no key')
      return signedBy(key, { kid, ...header }, { ...claimsOf(issuer), ...claims })
    },
    async stop() {
      http.closeAllConnections()
      await new Promise((done) => http.close(done))
    },
  }
  onTestFinished(() => server.stop())
  return server
}

/** What the settings of a gateway say about this issuer: its editors are editors. */
export function settingsOf({ issuer, jwksUri }: IssuerServer): Record<string, unknown> {
  return {
    ...{ issuer, jwksUri, name: 'sso', audience: 'postern' },
    claims: { userName: 'name', roleKey: 'roles' },
    roles: [{ value: 'editors', role: 'editor' }],
  }
}

function claimsOf(issuer: string): TestClaims {
  return {
    ...{ iss: issuer, aud: 'postern', sub: 'f3a1', roles: ['editors'] },
    ...{ iat: nowSeconds(), exp: nowSeconds() + 600, jti: crypto.randomUUID() },
  }
}

export function keySetOf(keys: IssuerServer['keys']): string {
  const list = Object.entries(keys).map(([kid, { privateKey }]) => {
    const { d: _, ...part } = privateKey.export({ format: 'jwk' })
    return { ...part, kid, use: 'sig' }
  })
  return JSON.stringify({ keys: list.map(({ p, q, dp, dq, qi, ...part }) => part) })
}

async function open(listen: RequestListener, tls: Certificates | undefined): Promise<Server> {
  const server =
    tls === undefined
      ? createPlainServer(listen)
      : createServer(
          { cert: await readFile(tls.certificate), key: await readFile(tls.key) },
          listen,
        )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
