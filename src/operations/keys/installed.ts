import { basename, join } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { type KeyEntry, kidOfFile, parseKeyFile } from '../../token/key-file.ts'
import { type KeySet, parseKeySet, signerFile } from '../../token/key-set.ts'
import type { RunOf } from '../operation.ts'
import { recordIfReachable } from '../record-if-reachable.ts'
import type * as described from './descriptions.ts'
import { keyDirectory, readKeyDirectory, refused, writeSigner } from './directory.ts'

/** Lists the keys of a directory without their secrets. */
export const keysList: RunOf<typeof described.keysList, { readonly isNamed: boolean }> = async (
  { dir },
  context,
) => {
  const { path } = keyDirectory(dir, context)
  const { set, named, exposed } = await readKeyDirectory(path)
  const keys = set.entries.map((entry) => summary(entry, set))
  return {
    document: { signer: set.signer?.kid ?? null, keys },
    shown: { isNamed: named !== undefined },
    notes: exposed.map((file) => `warning: other users can read ${file}: run "chmod 0400 ${file}"`),
  }
}

function summary({ kid, key, signing, thumbprint, file }: KeyEntry, { signer }: KeySet) {
  const role = signing === undefined ? 'verifies' : signer?.kid === kid ? 'signs' : 'could sign'
  // The thumbprint of a shared secret is a digest of it, which would let anyone test guesses.
  const shown = key.publicJwk === undefined ? null : thumbprint
  return { kid, algorithm: key.algorithm, role, thumbprint: shown, file: basename(file) } as const
}

/** Makes another key of the directory the signing key. */
export const keysUse: RunOf<typeof described.keysUse> = async ({ kid, dir }, context) => {
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
