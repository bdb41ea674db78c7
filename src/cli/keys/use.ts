import { join } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { Fault } from '../../kernel/errors.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { kidOfFile, parseKeyFile } from '../../token/key-file.ts'
import { parseKeySet, signerFile } from '../../token/key-set.ts'
import type { Run } from '../command.ts'
import { json } from '../format.ts'
import { recordIfReachable } from '../record-if-reachable.ts'
import { keyDirectory, writeSigner } from './directory.ts'
import type { useSpec } from './specs.ts'

/** Makes another key of the directory the signing key. */
export const keysUse: Run<typeof useSpec> = async ({ options, arguments: [kid, named] }, io) => {
  const { shown, path } = keyDirectory(named, options.config, io)
  const files = await readKeyFiles(path)
  const file = files.find(({ name }) => kidOfFile(name) === kid)
  if (file === undefined)
    throw refused(
      `${shown} has no key ${JSON.stringify(kid)}: "postern keys list ${shown}" shows all keys`,
    )
  const { signing } = await parseKeyFile(file, secretWeakness)
  if (signing === undefined)
    throw refused(`${kid} is a public key and cannot sign: choose a private key`)

  const signer = join(path, signerFile)
  const rest = files.filter(({ name }) => name !== signer)
  await parseKeySet(shown, [...rest, { name: signer, text: kid }], { secretWeakness })
  await writeSigner(path, kid)
  io.err(
    `postern: ${kid} signs new tokens; tokens of the other keys, service tokens too, stay valid while their files exist\n`,
  )
  if (options.output === 'json') io.out(json({ signer: kid, directory: shown }))
  const before = { signer: files.find(({ name }) => name === signer)?.text.trim() ?? null }
  const after = { signer: kid, directory: shown }
  await recordIfReachable({ action: 'keys.use', subject: kid, before, after }, options.config, io)
  return 0
}

function refused(reason: string): Fault {
  return new Fault('keys', { reason })
}
