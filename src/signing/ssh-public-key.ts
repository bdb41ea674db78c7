import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { readAllStrings, sshString } from './ssh-wire.ts'

/** The only type of key that Postern signs and verifies policies with. */
export const KEY_TYPE = 'ssh-ed25519'

/** An Ed25519 public key. */
export interface SshPublicKey {
  /** The 32 bytes of RFC 8032 in base64: equal for equal keys, whatever their names are. */
  readonly id: string
  readonly key: KeyObject
}

/** A line such as `ssh-ed25519 AAAA… alice`: a key and the text after it, which may be empty. */
export interface SshKeyLine extends SshPublicKey {
  readonly comment: string
}

/** Longer than any line with an Ed25519 key and a readable name. */
const maxLine = 1024

/** Reads one line of a `.pub` file, or says in a few words what is wrong with it. */
export function parseKeyLine(line: string): SshKeyLine | string {
  if (line.length > maxLine) return `is longer than ${maxLine} characters`
  const [type = '', blob = '', ...rest] = line.trim().split(/\s+/)
  if (type !== KEY_TYPE) {
    return /^(?:ssh|ecdsa|sk)-[\w@.-]+$/.test(type)
      ? `is a key of type ${type}: only ${KEY_TYPE} is supported, create one with "ssh-keygen -t ed25519"`
      : `is not a public key: write "${KEY_TYPE} AAAA… NAME", as in a .pub file`
  }
  const bytes = Buffer.from(blob, 'base64')
  const key = parseKeyBlob(bytes)
  // Else two texts would mean one key.
  if (key === undefined || bytes.toString('base64') !== blob) {
    return `has a damaged ${KEY_TYPE} key: copy the line from the .pub file again`
  }
  return { ...key, comment: rest.join(' ') }
}

export function formatKeyLine({ id }: SshPublicKey, comment: string): string {
  return `${KEY_TYPE} ${keyBlob(Buffer.from(id, 'base64')).toString('base64')} ${comment}`
}

/** As `ssh-keygen -l` prints it. */
export function fingerprintOf({ id }: Pick<SshPublicKey, 'id'>): string {
  const digest = hash('sha256', keyBlob(Buffer.from(id, 'base64')), 'base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}

/** A key as SSH's wire format has it: its type, then its 32 bytes. */
export function keyBlob(raw: Uint8Array): Buffer {
  return Buffer.concat([sshString(KEY_TYPE), sshString(raw)])
}

export function parseKeyBlob(bytes: Buffer): SshPublicKey | undefined {
  const id = keyIdOf(bytes)
  return id === undefined ? undefined : rawPublicKey(Buffer.from(id, 'base64'))
}

/** The `id` of a key; `undefined` for one of another type. */
export function keyIdOf(bytes: Buffer): string | undefined {
  const [type, raw] = readAllStrings(bytes, 2) ?? []
  if (type?.toString('latin1') !== KEY_TYPE || raw?.length !== 32) return undefined
  return raw.toString('base64')
}

function rawPublicKey(raw: Buffer): SshPublicKey {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
  return { id: raw.toString('base64'), key: createPublicKey({ key: jwk, format: 'jwk' }) }
}

/** The public part of a key pair. */
export function publicKeyOf(key: KeyObject): SshPublicKey {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return rawPublicKey(Buffer.from(x, 'base64url'))
}
