import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { Fault } from '../../kernel/errors.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { generateKeyFile, newKid } from '../../token/generate-key.ts'
import { kidForm, parseKeyFile } from '../../token/key-file.ts'
import { confusions } from '../../token/key-set.ts'
import { type Run, UsageError } from '../command.ts'
import { json } from '../format.ts'
import { recordIfReachable } from '../record-if-reachable.ts'
import { keyDirectory, readKeyDirectory, writePrivately } from './directory.ts'
import { generatePolicyKey } from './generate-policy-key.ts'
import type { generateSpec } from './specs.ts'

/** Generates a key and prints the next steps. */
export const keysGenerate: Run<typeof generateSpec> = async ({ options }, io) => {
  const isForPolicy = options.for === 'policy'
  const kid = options.kid ?? (isForPolicy ? (io.userName ?? '') : newKid(new Date()))
  if (!kidForm.test(kid)) {
    throw new UsageError(
      `--kid: ${JSON.stringify(kid)} is not valid, use 1 to 64 letters, digits, ".", "_" or "-", first a letter or digit`,
    )
  }
  if (isForPolicy) return generatePolicyKey({ ...options, name: kid }, io)
  const { alg: algorithm = 'ES256' } = options
  const { shown, path } = keyDirectory(options.out, options.config, io)
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

  const first = before === undefined
  io.err(nextSteps({ kid, shown, first }))
  io.out(
    options.output === 'json'
      ? json({ kid, algorithm, file: join(shown, generated.name), first })
      : `${kid}\n`,
  )
  const after = { algorithm, directory: shown }
  await recordIfReachable({ action: 'keys.generate', subject: kid, after }, options.config, io)
  return 0
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

function nextSteps({ kid, shown, first }: { kid: string; shown: string; first: boolean }): string {
  if (first) {
    return `postern: generated the first key of ${shown}. Next:
  1. copy ${shown} to every replica and set jwt.keyDirectory to it
  2. if jwt.secret is set, let the key sign instead: postern keys use ${kid} ${shown}
`
  }
  return `postern: generated a key in ${shown}; it does not sign yet. Next:
  1. copy the file to every replica and wait a minute, so that all have loaded it
  2. let it sign: postern keys use ${kid} ${shown}
  3. after jwt.timeout has passed, "postern user totp --reencrypt" has run, and "postern token list" shows no good token of it, delete the file of the old key
`
}

function refused(reason: string): Fault {
  return new Fault('keys', { reason })
}
