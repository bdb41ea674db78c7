import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readConfig } from '../../config/load.ts'
import { parsePrivateKey } from '../../signing/ssh-private-key.ts'
import { fingerprintOf, formatKeyLine } from '../../signing/ssh-public-key.ts'
import { generateKeyFile } from '../../token/generate-key.ts'
import type { Context } from '../context.ts'
import { InvalidInput } from '../invalid-input.ts'
import { refused, writePrivately } from './directory.ts'

interface PolicyKeyOptions {
  /** The name of its owner, which signatures are shown by. */
  readonly name: string
  /** The directory to write it to. */
  readonly out: string | undefined
  readonly alg: string | undefined
}

/** Generates a key that signs policies, with its public key in a file of its own. */
export async function generatePolicyKey(
  { name, out = '.', alg = 'EdDSA' }: PolicyKeyOptions,
  context: Context,
) {
  if (alg !== 'EdDSA') {
    throw new InvalidInput('alg', `${alg} does not sign policies: omit --alg, the key is Ed25519`)
  }
  const directory = resolve(context.cwd, out)
  refuseTokenKeys(directory, out, context)
  const { name: file, text } = await generateKeyFile(name, 'EdDSA')
  const key = parsePrivateKey(text)
  if (typeof key === 'string') throw refused(`the new key ${key}`)
  const line = formatKeyLine(key.publicKey, name)
  if (existsSync(join(directory, `${name}.pub`))) {
    throw refused(`${join(out, name)}.pub already exists: keys are never overwritten`)
  }
  await writePrivately(directory, file, text)
  await writePrivately(directory, `${name}.pub`, `${line}\n`)

  const fingerprint = fingerprintOf(key.publicKey)
  const algorithm = 'EdDSA'
  return { document: { name, algorithm, file: join(out, file), publicKey: line, fingerprint } }
}

/** Every private key in `jwt.keyDirectory` can sign tokens. */
function refuseTokenKeys(
  directory: string,
  out: string,
  { configFile: file, env, cwd }: Context,
): void {
  const { written } = readConfig({ file, env, cwd })
  const forTokens = written?.draft.jwt?.keyDirectory
  if (forTokens === undefined || resolve(cwd, forTokens) !== directory) return
  throw new InvalidInput(
    'out',
    `${out} is jwt.keyDirectory, whose keys sign tokens: choose another`,
  )
}
