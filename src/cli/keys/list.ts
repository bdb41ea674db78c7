import { basename } from 'node:path'
import type { KeyEntry } from '../../token/key-file.ts'
import type { KeySet } from '../../token/key-set.ts'
import type { Run } from '../command.ts'
import { formatTable, json } from '../format.ts'
import { keyDirectory, readKeyDirectory } from './directory.ts'
import type { listSpec } from './specs.ts'

/** Lists the keys of a directory without their secrets. */
export const keysList: Run<typeof listSpec> = async ({ options, arguments: [named] }, io) => {
  const { path } = keyDirectory(named, options.config, io)
  const directory = await readKeyDirectory(path)
  const keys = directory.set.entries.map((entry) => summary(entry, directory.set))

  for (const file of directory.exposed) {
    io.err(`postern: warning: other users can read ${file}: run "chmod 0400 ${file}"\n`)
  }
  if (options.output === 'json') io.out(json({ signer: directory.set.signer?.kid ?? null, keys }))
  else {
    const rows = keys.map(({ kid, algorithm, role, thumbprint }) => [
      kid,
      algorithm,
      role,
      thumbprint ?? '-',
    ])
    io.out(formatTable([['KID', 'ALG', 'ROLE', 'THUMBPRINT'], ...rows]))
    if (directory.named === undefined) {
      io.err('postern: note: no file "signer" exists, so jwt.secret signs if it is set\n')
    }
  }
  return 0
}

function summary({ kid, key, signing, thumbprint, file }: KeyEntry, { signer }: KeySet) {
  const role = signing === undefined ? 'verifies' : signer?.kid === kid ? 'signs' : 'could sign'
  // The thumbprint of a shared secret is a digest of it, which would let anyone test guesses.
  const shown = key.publicJwk === undefined ? null : thumbprint
  return { kid, algorithm: key.algorithm, role, thumbprint: shown, file: basename(file) }
}
