import { join } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { Fault } from '../../errors.ts'
import { readKeyFiles } from '../../stores/keys/key-files.ts'
import { kidOfFile, parseKeyFile } from '../../token/key-file.ts'
import { parseKeySet, signerFile } from '../../token/key-set.ts'
import { json, policyCommand } from '../command.ts'
import { keyDirectory, writeSigner } from './directory.ts'

const help = `usage: postern keys use KID [DIR] [--output text|json] [--config FILE]

Makes the key KID the one that signs: writes its name to DIR/signer. Running gateways take it in by
themselves. Tokens of the other keys stay good as long as those files stay. DIR defaults to
jwt.keyDirectory.

  postern keys use 2026-11-15-3f2a9c keys

Do this when every replica has the key: one that has not refuses what the others sign. In a
Kubernetes Secret, change the entry signer instead.

Exit codes: 0 it signs, 1 there is no such private key, 2 bad arguments, 3 DIR cannot be used.
`

/** Moves signing to another key that is there already. */
export const keysUse = policyCommand(
  { help, options: {}, positionals: [1, 2] },
  async ({ values, positionals: [kid = '', named], output }, io) => {
    const { shown, path } = keyDirectory(named, values.config, io)
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
    if (output === 'json') io.out(json({ signer: kid, directory: shown }))
    return 0
  },
)

function refused(reason: string): Fault {
  return new Fault('keys', { reason })
}
