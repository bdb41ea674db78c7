import { generateKeyPair, type KeyObject, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { KeyFile } from './key-file.ts'
import type { Algorithm } from './keys.ts'

const generate = promisify(generateKeyPair)

/** The file of a new key, with its private part: PKCS #8 in PEM, or a JWK for a shared secret. */
export async function generateKeyFile(kid: string, algorithm: Algorithm): Promise<KeyFile> {
  switch (algorithm) {
    case 'ES256': {
      const { privateKey } = await generate('ec', { namedCurve: 'P-256' })
      return { name: `${kid}.pem`, text: pem(privateKey) }
    }
    case 'RS256': {
      const { privateKey } = await generate('rsa', { modulusLength: 3072 })
      return { name: `${kid}.pem`, text: pem(privateKey) }
    }
    case 'EdDSA': {
      const { privateKey } = await generate('ed25519', {})
      return { name: `${kid}.pem`, text: pem(privateKey) }
    }
    case 'HS256': {
      const jwk = { kty: 'oct', alg: 'HS256', kid, k: randomBytes(32).toString('base64url') }
      return { name: `${kid}.jwk`, text: `${JSON.stringify(jwk)}\n` }
    }
  }
}

/** A unique name that sorts by day. */
export function newKid(today: Date): string {
  return `${today.toISOString().slice(0, 10)}-${randomBytes(3).toString('hex')}`
}

function pem(key: KeyObject): string {
  return String(key.export({ type: 'pkcs8', format: 'pem' }))
}
