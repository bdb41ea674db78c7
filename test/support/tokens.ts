import { createHmac, randomUUID } from 'node:crypto'

/** The secret of every gateway under test. */
export const testSecret = 'a-secret-for-tests-only-0123456789abcdef'

export interface TestClaims {
  readonly [claim: string]: unknown
}

/** The claims of a caller in the given role, good for an hour. */
export function claimsOf(roleKey: string, changes: TestClaims = {}): TestClaims {
  return {
    identity: 42,
    roleid: 7,
    rolekey: roleKey,
    nice: `${roleKey}-user`,
    datascope: '3',
    rolename: roleKey,
    exp: nowSeconds() + 3600,
    orig_iat: nowSeconds(),
    // Else two tests of one second would have one token, and one could end the other's.
    nonce: randomUUID(),
    ...changes,
  }
}

/** A token made by hand, so that no mistake of our own code can agree with itself. */
export function forge(parts: {
  readonly header?: unknown
  readonly payload?: unknown
  readonly secret?: string | Buffer
  readonly hash?: string
}): string {
  const header = encode(parts.header ?? { alg: 'HS256', typ: 'JWT' })
  const payload = encode(parts.payload ?? claimsOf('editor'))
  const signature = createHmac(parts.hash ?? 'sha256', parts.secret ?? testSecret)
    .update(`${header}.${payload}`)
    .digest('base64url')
  return `${header}.${payload}.${signature}`
}

/** A valid token of somebody in this role. */
export function tokenOf(roleKey: string, changes: TestClaims = {}): string {
  return forge({ payload: claimsOf(roleKey, changes) })
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

function encode(part: unknown): string {
  const bytes = Buffer.isBuffer(part)
    ? part
    : typeof part === 'string'
      ? part
      : JSON.stringify(part)
  return Buffer.from(bytes).toString('base64url')
}
