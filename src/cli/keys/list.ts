import { basename } from 'node:path'
import type { KeyEntry } from '../../token/key-file.ts'
import type { KeySet } from '../../token/key-set.ts'
import { json, policyCommand } from '../command.ts'
import { formatTable } from '../table.ts'
import { keyDirectory, readKeyDirectory } from './directory.ts'

const help = `usage: postern keys list [DIR] [--output text|json] [--config FILE]

Shows the keys of a directory, and which of them signs. DIR defaults to jwt.keyDirectory. Nothing
that is secret is shown; the thumbprint is that of RFC 7638.

  postern keys list keys
  postern keys list keys --output json | jq -r '.keys[] | select(.role == "signs") | .kid'

Exit codes: 0 usable, 3 a gateway would refuse this directory, 2 bad arguments.
`

/** Shows the keys of a directory without anything that is secret. */
export const keysList = policyCommand(
  { help, options: {}, positionals: [0, 1] },
  async ({ values, positionals: [named], output }, io) => {
    const { path } = keyDirectory(named, values.config, io)
    const directory = await readKeyDirectory(path)
    const keys = directory.set.entries.map((entry) => summary(entry, directory.set))

    for (const file of directory.exposed) {
      io.err(`postern: warning: others than its owner can read ${file}: chmod 0400\n`)
    }
    if (output === 'json') io.out(json({ signer: directory.set.signer?.kid ?? null, keys }))
    else {
      const rows = keys.map(({ kid, algorithm, role, thumbprint }) => [
        kid,
        algorithm,
        role,
        thumbprint ?? '-',
      ])
      io.out(formatTable([['KID', 'ALG', 'ROLE', 'THUMBPRINT'], ...rows]))
      if (directory.named === undefined) {
        io.err('postern: there is no file signer: where jwt.secret is set, that signs\n')
      }
    }
    return 0
  },
)

function summary({ kid, key, signing, thumbprint, file }: KeyEntry, { signer }: KeySet) {
  const role = signing === undefined ? 'verifies' : signer?.kid === kid ? 'signs' : 'could sign'
  // The thumbprint of a shared secret is a digest of it: something to test guesses with.
  const shown = key.publicJwk === undefined ? null : thumbprint
  return { kid, algorithm: key.algorithm, role, thumbprint: shown, file: basename(file) }
}
