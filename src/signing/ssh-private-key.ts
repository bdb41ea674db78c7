import { createPrivateKey, type KeyObject } from 'node:crypto'
import { KEY_TYPE, parseKeyBlob, publicKeyOf, type SshPublicKey } from './ssh-public-key.ts'
import { readAllStrings, readStrings } from './ssh-wire.ts'

/** A private key in the clear, or the public part of one that needs its passphrase. */
type SshPrivateKey =
  | { readonly kind: 'private'; readonly publicKey: SshPublicKey; readonly key: KeyObject }
  | { readonly kind: 'encrypted'; readonly publicKey: SshPublicKey }

/** OpenSSH, PROTOCOL.key: what the file begins with, once decoded. */
const magic = Buffer.from('openssh-key-v1\0')

/** RFC 8410: what precedes the 32 bytes of an Ed25519 private key in PKCS #8. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Reads a private key: PKCS #8 in PEM, which `postern keys generate` writes, or OpenSSH's own format.
 * Otherwise says in a few words what is wrong, without any part of the key.
 */
export function parsePrivateKey(text: string): SshPrivateKey | string {
  const armor = /-----BEGIN ([A-Z ]+)-----\s([A-Za-z0-9+/=\s]*)-----END \1-----/.exec(text)
  const [, label, body = ''] = armor ?? []
  switch (label) {
    case 'OPENSSH PRIVATE KEY':
      return parseOpenSsh(Buffer.from(body, 'base64')) ?? 'is a damaged OpenSSH private key'
    case 'PRIVATE KEY':
      return parsePkcs8(Buffer.from(body, 'base64'))
    case 'ENCRYPTED PRIVATE KEY':
      return 'is an encrypted PEM key: only OpenSSH private keys may have a passphrase'
    case undefined:
      return `is not a private key: give a key of "postern keys generate --for policy" or of "ssh-keygen -t ed25519"`
    default:
      return `is a ${label.toLowerCase()}: ${onlyEd25519}`
  }
}

const onlyEd25519 = 'only Ed25519 keys sign policies'

function parsePkcs8(der: Buffer): SshPrivateKey | string {
  try {
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    const type = key.asymmetricKeyType
    if (type !== 'ed25519') return `is a private key of type ${type}: ${onlyEd25519}`
    return { kind: 'private', publicKey: publicKeyOf(key), key }
  } catch {
    return 'is a damaged private key'
  }
}

function parseOpenSsh(bytes: Buffer): SshPrivateKey | string | undefined {
  if (!bytes.subarray(0, magic.length).equals(magic)) return undefined
  const head = readStrings(bytes.subarray(magic.length), 3)
  if (head === undefined || head.rest.length < 4 || head.rest.readUInt32BE(0) !== 1)
    return undefined
  const [blob, section] = readAllStrings(head.rest.subarray(4), 2) ?? []
  if (blob === undefined || section === undefined) return undefined
  const type = readStrings(blob, 1)?.strings[0]?.toString('latin1')
  if (type !== KEY_TYPE) return onlyEd25519
  const publicKey = parseKeyBlob(blob)
  if (publicKey === undefined) return undefined
  if (head.strings[0]?.toString('latin1') !== 'none') return { kind: 'encrypted', publicKey }

  // Two equal numbers come first: they show whether a passphrase was right.
  const [, , secret] = readStrings(section.subarray(8), 3)?.strings ?? []
  if (secret?.length !== 64) return undefined
  const der = Buffer.concat([pkcs8, secret.subarray(0, 32)])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  if (publicKeyOf(key).id !== publicKey.id) return undefined
  return { kind: 'private', publicKey, key }
}
