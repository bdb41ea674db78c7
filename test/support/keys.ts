import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { claimsOf, type TestClaims } from './tokens.ts'

export interface TestKey {
  readonly algorithm: 'RS256' | 'ES256' | 'EdDSA'
  readonly privateKey: KeyObject
  /** PEM, as files of a key directory hold it. */
  readonly privatePem: string
  readonly publicPem: string
}

/** A key made by Node alone, so that no mistake of our own code can agree with itself. */
export function newKey(algorithm: TestKey['algorithm'] = 'ES256'): TestKey {
  const { privateKey, publicKey } =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : algorithm === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('ed25519')
  return {
    algorithm,
    privateKey,
    privatePem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    publicPem: String(publicKey.export({ type: 'spki', format: 'pem' })),
  }
}

/** A token that this key signed; the header says what it is told to, be it true or not. */
export function signedBy(
  { algorithm, privateKey }: TestKey,
  header: Readonly<Record<string, unknown>>,
  claims: TestClaims = claimsOf('editor'),
): string {
  const input = [{ alg: algorithm, typ: 'JWT', ...header }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const how = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  const signature = sign(algorithm === 'EdDSA' ? null : 'sha256', Buffer.from(input), how)
  return `${input}.${signature.toString('base64url')}`
}

export type KeyFiles = Readonly<Record<string, string>>

export interface KeyMount {
  readonly directory: string
  /** Puts other files in place as the kubelet does it: in one step, by a link. */
  swap(files: KeyFiles): Promise<void>
}

/** A directory of keys as Kubernetes mounts a Secret. */
export async function mountKeys(files: KeyFiles): Promise<KeyMount> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-keys-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  let time = 0
  let names: string[] = []

  async function swap(next: KeyFiles): Promise<void> {
    const data = `..2026_${++time}`
    await mkdir(join(directory, data))
    for (const [name, text] of Object.entries(next)) {
      await writeFile(join(directory, data, name), text, { mode: 0o600 })
    }
    await symlink(data, join(directory, '..data_tmp'))
    await rename(join(directory, '..data_tmp'), join(directory, '..data'))
    const added = Object.keys(next).filter((name) => !names.includes(name))
    for (const name of added) await symlink(join('..data', name), join(directory, name))
    for (const name of names) if (!(name in next)) await rm(join(directory, name))
    names = Object.keys(next)
    await rm(join(directory, `..2026_${time - 1}`), { recursive: true, force: true })
  }

  await swap(files)
  return { directory, swap }
}

export interface KeysDetail {
  readonly signer: string | null
  readonly keys: readonly { readonly kid: string; readonly algorithm: string }[]
  readonly lastError?: string
  readonly reloads: { readonly ok: number; readonly failed: number }
}

/** What `/readyz?verbose` says about the keys. */
export async function keysOf({ opsPort }: { readonly opsPort: number }): Promise<KeysDetail> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz?verbose`)
  return ((await answer.json()) as { keys: KeysDetail }).keys
}
