import { hash, type KeyObject, sign, verify } from 'node:crypto'
import { KEY_TYPE, keyBlob, keyIdOf, publicKeyOf, type SshPublicKey } from './ssh-public-key.ts'
import { readAllStrings, sshString } from './ssh-wire.ts'

/* OpenSSH, PROTOCOL.sshsig: "ssh-keygen -Y verify" checks these, "ssh-keygen -Y sign" makes them. */

/** A signature that was parsed, not verified. */
interface SshSignature {
  /** The key that it claims to be made with, as `SshPublicKey` has it. */
  readonly keyId: string
  /** What it is for: a signature for another purpose says nothing. */
  readonly namespace: string
  readonly hashName: 'sha256' | 'sha512'
  readonly bytes: Buffer
}

const magic = Buffer.from('SSHSIG')
const version = Buffer.from([0, 0, 0, 1])

/** A signature of Ed25519 takes some 300 characters. */
const maxSignature = 1024

const armor = /^-----BEGIN SSH SIGNATURE-----\s([A-Za-z0-9+/=\s]+)\s-----END SSH SIGNATURE-----\s*$/

/** Parses an armored signature; `undefined` for anything that an Ed25519 key did not make. */
export function parseSignature(text: string): SshSignature | undefined {
  if (text.length > maxSignature) return undefined
  const bytes = Buffer.from(armor.exec(text)?.[1] ?? '', 'base64')
  const start = Buffer.concat([magic, version])
  if (!bytes.subarray(0, start.length).equals(start)) return undefined
  const parts = readAllStrings(bytes.subarray(start.length), 5)
  if (parts === undefined) return undefined
  const [blob, namespace, reserved, hashText, signature] = parts
  const keyId = blob && keyIdOf(blob)
  const hashName = hashText?.toString('latin1')
  const [type, raw] = readAllStrings(signature ?? Buffer.alloc(0), 2) ?? []
  const isEd25519 = type?.toString('latin1') === KEY_TYPE && raw?.length === 64
  if (keyId === undefined || namespace === undefined || raw === undefined) return undefined
  // What the reserved field will mean is unknown, so it must not be ignored.
  if (!isEd25519 || reserved?.length !== 0) return undefined
  if (hashName !== 'sha256' && hashName !== 'sha512') return undefined
  return { keyId, namespace: namespace.toString(), hashName, bytes: raw }
}

/** Whether this key made the signature over this text, for the namespace that it names. */
export function isGoodSignature(
  { keyId, namespace, hashName, bytes }: SshSignature,
  text: string,
  { id, key }: SshPublicKey,
): boolean {
  return keyId === id && verify(null, signedBytes(text, namespace, hashName), key, bytes)
}

/** Signs a text for a namespace, as `ssh-keygen -Y sign -n NAMESPACE` does. */
export function createSignature(text: string, namespace: string, key: KeyObject): string {
  const signature = sign(null, signedBytes(text, namespace, 'sha512'), key)
  const bytes = Buffer.concat([
    magic,
    version,
    sshString(keyBlob(Buffer.from(publicKeyOf(key).id, 'base64'))),
    sshString(namespace),
    sshString(''),
    sshString('sha512'),
    sshString(Buffer.concat([sshString(KEY_TYPE), sshString(signature)])),
  ])
  return armored(bytes.toString('base64'))
}

/** The signature as `ssh-keygen` writes it, from its base64 text in one line. */
export function armored(base64: string): string {
  const lines = base64.match(/.{1,70}/g) ?? []
  return `-----BEGIN SSH SIGNATURE-----\n${lines.join('\n')}\n-----END SSH SIGNATURE-----\n`
}

/** The base64 text of an armored signature in one line; empty for anything else. */
export function unarmored(text: string): string {
  return (armor.exec(text)?.[1] ?? '').replaceAll(/\s/g, '')
}

function signedBytes(text: string, namespace: string, hashName: SshSignature['hashName']): Buffer {
  return Buffer.concat([
    magic,
    sshString(namespace),
    sshString(''),
    sshString(hashName),
    sshString(hash(hashName, text, 'buffer')),
  ])
}
