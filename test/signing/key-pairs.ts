import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { formatKeyLine, publicKeyOf } from '../../src/signing/ssh-public-key.ts'
import { createSignature } from '../../src/signing/ssh-signature.ts'
import {
  formatStatement,
  namespaceOf,
  type Purpose,
  type Signed,
  type Statement,
} from '../../src/signing/statement.ts'
import type { Trust, TrustedKey } from '../../src/signing/trust.ts'

/** A person with a key, which a configuration can trust. */
export interface Person extends TrustedKey {
  readonly privateKey: KeyObject
  readonly pem: string
  readonly line: string
}

export function person(name: string): Person {
  const { privateKey } = generateKeyPairSync('ed25519')
  const publicKey = publicKeyOf(privateKey)
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return { ...publicKey, name, privateKey, pem, line: formatKeyLine(publicKey, name) }
}

export function trusting(people: readonly TrustedKey[], signatures = 1): Trust {
  return { keys: people.map(({ id, key, name }) => ({ id, key, name })), signatures }
}

export const sample: Statement = {
  version: 1,
  purpose: 'live',
  revision: 'r-0123456789abcdef0123456789abcdef',
  document: 'ab'.repeat(32),
  after: null,
  serial: 1000,
  author: 'alice',
  message: 'orders for editors',
  at: '2026-11-16T14:00:00.000Z',
}

/** A statement with the signatures of these people, for its own purpose unless another is named. */
export function signedBy(
  people: readonly Person[],
  statement: Partial<Statement> = {},
  purpose: Purpose = statement.purpose ?? 'live',
): Signed {
  const text = formatStatement({ ...sample, ...statement })
  const namespace = namespaceOf(purpose)
  return {
    statement: text,
    signatures: people.map(({ privateKey }) => createSignature(text, namespace, privateKey)),
  }
}
