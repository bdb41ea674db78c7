import { generateKeyPairSync } from 'node:crypto'
import { formatKeyLine, publicKeyOf } from '../../src/signing/ssh-public-key.ts'

/** A person with a key that may sign policies. */
export interface TestSigner {
  /** The private key, as `postern keys generate --for policy` writes it. */
  readonly pem: string
  /** As `policy.trust.keys` lists it. */
  readonly line: string
}

export function testSigner(name: string): TestSigner {
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { pem, line: formatKeyLine(publicKeyOf(privateKey), name) }
}
