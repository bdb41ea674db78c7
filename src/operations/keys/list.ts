import { basename } from 'node:path'
import type { KeyEntry } from '../../token/key-file.ts'
import type { KeySet } from '../../token/key-set.ts'
import type { RunOf } from '../operation.ts'
import type { keysList } from './descriptions.ts'
import { keyDirectory, readKeyDirectory } from './directory.ts'

/** Lists the keys of a directory without their secrets. */
export const run: RunOf<typeof keysList, { readonly isNamed: boolean }> = async (
  input,
  context,
) => {
  const { path } = keyDirectory(input.dir, context)
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
