import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'

/** Who calls, whichever of the two ways below told it. */
export interface Caller {
  readonly userId: string
  readonly roleKey: string
  readonly roleId: string
  readonly dataScope: string
  readonly name: string
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Way 1, where only Postern can reach this service: read the headers. */
export function callerFromHeaders(headers: Headers): Caller | undefined {
  const read = (name: string) => decodeURIComponent(String(headers[name] ?? ''))
  // On a route with access: public there is no caller, and none of the headers.
  if (headers['x-user-id'] === undefined) return undefined
  return {
    userId: read('x-user-id'),
    roleKey: read('x-role-key'),
    roleId: read('x-role-id'),
    dataScope: read('x-data-scope'),
    name: read('x-user-name'),
  }
}

export interface AssertionOptions {
  readonly jwksUrl: string
  readonly issuer: string
  readonly audience: string
}

/** Way 2, anywhere: verify X-Postern-Assertion, and take nothing from the other headers. */
export function createAssertionCheck({ jwksUrl, issuer, audience }: AssertionOptions) {
  const findKey = createKeyFinder(jwksUrl)

  return async (assertion: string): Promise<Caller> => {
    const [header = '', payload = '', signature = '', ...rest] = assertion.split('.')
    if (signature === '' || rest.length > 0) throw new Error('no assertion')
    const { typ, alg, kid } = parse(header)
    if (typ !== 'postern-assertion+jwt') throw new Error('no assertion')

    const { key, algorithm } = await findKey(String(kid))
    // The key decides how it is used; what the assertion says can only agree.
    if (alg !== algorithm) throw new Error('another algorithm than that of the key')
    const digest = algorithm === 'EdDSA' ? null : 'sha256'
    const signed = Buffer.from(`${header}.${payload}`)
    const how = { key, dsaEncoding: 'ieee-p1363' } as const
    if (!verify(digest, signed, how, Buffer.from(signature, 'base64url'))) {
      throw new Error('wrong signature')
    }

    const claims = parse(payload)
    const now = Date.now() / 1000
    if (claims['iss'] !== issuer || claims['aud'] !== audience) throw new Error('not for us')
    if (typeof claims['exp'] !== 'number' || now > claims['exp'] + 5) throw new Error('expired')
    return {
      userId: String(claims['sub']),
      roleKey: String(claims['role_key']),
      roleId: String(claims['role_id']),
      dataScope: String(claims['data_scope']),
      name: String(claims['name']),
    }
  }
}

interface FoundKey {
  readonly key: KeyObject
  readonly algorithm: string
}

/** Asks again for a kid that it does not know: keys are rotated. Not more often than every 10 s. */
function createKeyFinder(url: string) {
  let keys = new Map<string, FoundKey>()
  let askedAt = Number.NEGATIVE_INFINITY

  return async (kid: string): Promise<FoundKey> => {
    if (!keys.has(kid) && Date.now() - askedAt > 10_000) {
      askedAt = Date.now()
      const answer = await fetch(url, { signal: AbortSignal.timeout(3000) })
      const set = (await answer.json()) as { keys: (JsonWebKey & { kid: string; alg: string })[] }
      keys = new Map(
        set.keys.map((jwk) => {
          const key = createPublicKey({ key: jwk, format: 'jwk' })
          return [jwk.kid, { key, algorithm: jwk.alg }]
        }),
      )
    }
    const found = keys.get(kid)
    if (found === undefined) throw new Error('unknown key')
    return found
  }
}

function parse(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
}
