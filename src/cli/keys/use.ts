import { join } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { Fault } from '../../errors.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { kidOfFile, parseKeyFile } from '../../token/key-file.ts'
import { parseKeySet, signerFile } from '../../token/key-set.ts'
import type { Run } from '../command.ts'
import { json } from '../format.ts'
import { keyDirectory, writeSigner } from './directory.ts'
import type { useSpec } from './specs.ts'

/** Moves signing to another key that is there already. */
export const keysUse: Run<typeof useSpec> = async ({ options, arguments: [kid, named] }, io) => {
  const { shown, path } = keyDirectory(named, options.config, io)
  const files = await readKeyFiles(path)
  const file = files.find(({ name }) => kidOfFile(name) === kid)
  if (file === undefined) throw refused(`${shown} has no key ${JSON.stringify(kid)}`)
  const { signing } = await parseKeyFile(file, secretWeakness)
  if (signing === undefined) throw refused(`${kid} is a public key: it cannot sign`)

  const signer = join(path, signerFile)
  const rest = files.filter(({ name }) => name !== signer)
  await parseKeySet(shown, [...rest, { name: signer, text: kid }], { secretWeakness })
  await writeSigner(path, kid)
  io.err(
    `postern: ${kid} signs from now on; tokens of the other keys stay good while those are there\n`,
  )
  if (options.output === 'json') io.out(json({ signer: kid, directory: shown }))
  return 0
}

function refused(reason: string): Fault {
  return new Fault('keys', { reason })
}
