import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { Fault } from '../../errors.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { generateKeyFile, newKid } from '../../token/generate-key.ts'
import { kidForm, parseKeyFile } from '../../token/key-file.ts'
import { confusions } from '../../token/key-set.ts'
import { type Run, UsageError } from '../command.ts'
import { json } from '../format.ts'
import { keyDirectory, readKeyDirectory, writePrivately } from './directory.ts'
import type { generateSpec } from './specs.ts'

/** Makes a signing key, and says what to do with it. */
export const keysGenerate: Run<typeof generateSpec> = async ({ options }, io) => {
  const { alg: algorithm, kid = newKid(new Date()) } = options
  if (!kidForm.test(kid)) {
    throw new UsageError(
      `--kid: ${JSON.stringify(kid)} is not valid, use 1 to 64 letters, digits, ".", "_" or "-", first a letter or digit`,
    )
  }
  const { shown, path } = keyDirectory(options.out, options.config, io)
  const before = await keysBefore(shown, path)
  const made = await generateKeyFile(kid, algorithm)
  const file = join(path, made.name)
  const entry = await parseKeyFile({ ...made, name: file }, secretWeakness)
  const entries = before?.set.entries ?? []
  if (entries.some((other) => other.kid === kid)) {
    throw refused(`${shown} has a key ${kid} already, and no key is ever overwritten`)
  }
  const [problem] = confusions([...entries, entry])
  if (problem !== undefined) throw refused(`the new key ${problem.message}: ${shown}`)
  await writePrivately(path, made.name, made.text)

  const first = before === undefined
  io.err(nextSteps({ kid, shown, first }))
  io.out(
    options.output === 'json'
      ? json({ kid, algorithm, file: join(shown, made.name), first })
      : `${kid}\n`,
  )
  return 0
}

/** A key more must not leave a running gateway in doubt about which one signs. */
async function keysBefore(shown: string, path: string) {
  if (!existsSync(path) || (await readKeyFiles(path)).length === 0) return undefined
  const before = await readKeyDirectory(path)
  const { signer } = before.set
  if (signer !== undefined && before.named === undefined) {
    const cure = `first say that the old one does: postern keys use ${signer.kid} ${shown}`
    throw refused(`with two private keys it would be unclear which one signs; ${cure}`)
  }
  return before
}

function nextSteps({ kid, shown, first }: { kid: string; shown: string; first: boolean }): string {
  if (first) {
    return `postern: made the first key of ${shown}. Next: set jwt.keyDirectory to it, on every replica
with the same files. It signs where there is no jwt.secret; where there is one, make it sign with
  postern keys use ${kid} ${shown}
`
  }
  return `postern: made a key in ${shown}; it does not sign yet. Next:
  1. bring the file to every replica, and wait a minute for all of them to have it
  2. postern keys use ${kid} ${shown}
  3. after jwt.timeout has passed, delete the file of the old key
`
}

function refused(reason: string): Fault {
  return new Fault('keys', { reason })
}
