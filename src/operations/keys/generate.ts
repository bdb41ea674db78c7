import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { readConfig } from '../../config/load.ts'
import { parsePrivateKey } from '../../signing/ssh-private-key.ts'
import { fingerprintOf, formatKeyLine } from '../../signing/ssh-public-key.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { generateKeyFile, newKid } from '../../token/generate-key.ts'
import { kidForm, parseKeyFile } from '../../token/key-file.ts'
import { confusions } from '../../token/key-set.ts'
import type { Context } from '../context.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { recordIfReachable } from '../record-if-reachable.ts'
import type { keysGenerate } from './descriptions.ts'
import { keyDirectory, readKeyDirectory, refused, writePrivately } from './directory.ts'

/** Generates a key that signs tokens or policies. */
export const run: RunOf<typeof keysGenerate> = async (input, context) => {
  const isForPolicy = input.for === 'policy'
  const kid = input.kid ?? (isForPolicy ? context.actor.name : newKid(new Date()))
  if (!kidForm.test(kid)) {
    throw new InvalidInput(
      'kid',
      `${JSON.stringify(kid)} is not valid, use 1 to 64 letters, digits, ".", "_" or "-", first a letter or digit`,
    )
  }
  if (isForPolicy) return generatePolicyKey({ ...input, name: kid }, context)
  return generateTokenKey(kid, input, context)
}

async function generateTokenKey(
  kid: string,
  { alg: algorithm = 'ES256', out }: Parameters<typeof run>[0],
  context: Context,
) {
  const { shown, path } = keyDirectory(out, context)
  const before = await keysBefore(shown, path)
  const generated = await generateKeyFile(kid, algorithm)
  const file = join(path, generated.name)
  const entry = await parseKeyFile({ ...generated, name: file }, secretWeakness)
  const entries = before?.set.entries ?? []
  if (entries.some((other) => other.kid === kid)) {
    throw refused(
      `${shown} already has a key ${kid}: keys are never overwritten; choose another --kid`,
    )
  }
  const [problem] = confusions([...entries, entry])
  if (problem !== undefined) throw refused(`the new key ${problem.message}: ${shown}`)
  await writePrivately(path, generated.name, generated.text)

  const after = { algorithm, directory: shown }
  const change = { action: 'keys.generate', subject: kid, after } as const
  const first = before === undefined
  return {
    document: { kid, algorithm, file: join(shown, generated.name), first, directory: shown },
    notes: await recordIfReachable(change, context),
  }
}

/** With a second private key and no file `signer`, a running gateway would reject the directory. */
async function keysBefore(shown: string, path: string) {
  if (!existsSync(path) || (await readKeyFiles(path)).length === 0) return undefined
  const before = await readKeyDirectory(path)
  const { signer } = before.set
  if (signer !== undefined && before.named === undefined) {
    const cure = `first run "postern keys use ${signer.kid} ${shown}"`
    throw refused(
      `with a second private key, ${shown} needs a file "signer" that names the signing key: ${cure}`,
    )
  }
  return before
}

interface PolicyKeyOptions {
  /** The name of its owner, which signatures are shown by. */
  readonly name: string
  /** The directory to write it to. */
  readonly out: string | undefined
  readonly alg: string | undefined
}

/** Generates a key that signs policies, with its public key in a file of its own. */
async function generatePolicyKey(
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
