import { join } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { kidOfFile, parseKeyFile } from '../../token/key-file.ts'
import { parseKeySet, signerFile } from '../../token/key-set.ts'
import type { RunOf } from '../operation.ts'
import { recordIfReachable } from '../record-if-reachable.ts'
import type { keysUse } from './descriptions.ts'
import { keyDirectory, refused, writeSigner } from './directory.ts'

/** Makes another key of the directory the signing key. */
export const run: RunOf<typeof keysUse> = async ({ kid, dir }, context) => {
  const { shown, path } = keyDirectory(dir, context)
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
  const before = { signer: files.find(({ name }) => name === signer)?.text.trim() ?? null }
  const after = { signer: kid, directory: shown }
  const change = { action: 'keys.use', subject: kid, before, after } as const
  const done = `${kid} signs new tokens; tokens of the other keys, service tokens too, stay valid while their files exist`
  return { document: after, notes: [done, ...(await recordIfReachable(change, context))] }
}
