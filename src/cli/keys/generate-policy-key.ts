import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readConfig } from '../../config/load.ts'
import { Fault } from '../../kernel/errors.ts'
import { parsePrivateKey } from '../../signing/ssh-private-key.ts'
import { fingerprintOf, formatKeyLine } from '../../signing/ssh-public-key.ts'
import { generateKeyFile } from '../../token/generate-key.ts'
import { UsageError } from '../command.ts'
import { json } from '../format.ts'
import type { Io } from '../io.ts'
import { writePrivately } from './directory.ts'

interface PolicyKeyOptions {
  /** The name of its owner, which signatures are shown by. */
  readonly name: string
  /** The directory to write it to. */
  readonly out: string | undefined
  readonly alg: string | undefined
  readonly output: 'text' | 'json'
  readonly config: string | undefined
}

/** Generates a key that signs policies, with its public key in a file of its own. */
export async function generatePolicyKey(options: PolicyKeyOptions, io: Io): Promise<number> {
  const { name, out = '.', alg = 'EdDSA', output } = options
  if (alg !== 'EdDSA') {
    throw new UsageError(`--alg: ${alg} does not sign policies: omit --alg, the key is Ed25519`)
  }
  const directory = resolve(io.cwd, out)
  refuseTokenKeys(directory, options, io)
  const { name: file, text } = await generateKeyFile(name, 'EdDSA')
  const key = parsePrivateKey(text)
  if (typeof key === 'string') throw new Fault('keys', { reason: `the new key ${key}` })
  const line = formatKeyLine(key.publicKey, name)
  if (existsSync(join(directory, `${name}.pub`))) {
    const reason = `${join(out, name)}.pub already exists: keys are never overwritten`
    throw new Fault('keys', { reason })
  }
  await writePrivately(directory, file, text)
  await writePrivately(directory, `${name}.pub`, `${line}\n`)

  const shown = join(out, file)
  io.err(`postern: generated ${shown}; keep it private. Next:
  1. add the line below to policy.trust.keys of every gateway, and restart them
  2. sign with it: postern policy push --key ${shown}, or propose and approve
`)
  const fingerprint = fingerprintOf(key.publicKey)
  io.out(
    output === 'json'
      ? json({ name, algorithm: 'EdDSA', file: shown, publicKey: line, fingerprint })
      : `${line}\n`,
  )
  return 0
}

/** Every private key in `jwt.keyDirectory` can sign tokens. */
function refuseTokenKeys(directory: string, { out = '.', config }: PolicyKeyOptions, io: Io): void {
  const { written } = readConfig({ file: config, env: io.env, cwd: io.cwd })
  const forTokens = written?.draft.jwt?.keyDirectory
  if (forTokens === undefined || resolve(io.cwd, forTokens) !== directory) return
  throw new UsageError(`--out: ${out} is jwt.keyDirectory, whose keys sign tokens: choose another`)
}
