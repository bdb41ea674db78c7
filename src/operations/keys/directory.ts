import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { secretWeakness } from '../../config/checks/secret-strength.ts'
import { configFile, readConfig } from '../../config/load.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { isOpenToOthers, readKeyFiles } from '../../stores/keys/key-files.ts'
import { parseKeySet, signerFile } from '../../token/key-set.ts'
import type { Context } from '../context.ts'

/** The directory that the user named, else the configured one. */
export function keyDirectory(
  named: string | undefined,
  { configFile: file, env, cwd }: Context,
): { readonly shown: string; readonly path: string } {
  if (named !== undefined) return { shown: named, path: resolve(cwd, named) }
  const source = { file, env, cwd }
  const reading = readConfig(source)
  if (reading.config === undefined) throw new Invalid(reading.problems)
  const { keyDirectory: configured } = reading.config.jwt
  if (configured !== undefined) return { shown: configured, path: resolve(cwd, configured) }
  const message =
    'jwt.keyDirectory is not set: set it, or give the key directory on the command line'
  throw new Invalid([{ file: configFile(source), message }])
}

/** Reads a key directory as a gateway without `jwt.secret` would. Throws `Invalid`. */
export async function readKeyDirectory(path: string) {
  const files = await readKeyFiles(path)
  const set = await parseKeySet(path, files, { secretWeakness })
  const open = new Set(files.filter(isOpenToOthers).map(({ name }) => name))
  return {
    set,
    /** The `kid` in the file `signer`, if that file exists. */
    named: files.find(({ name }) => name === join(path, signerFile))?.text.trim(),
    /** Private keys that users other than their owner can read. */
    exposed: set.entries.flatMap(({ signing, file }) => (signing && open.has(file) ? [file] : [])),
  }
}

/** Writes a new file that only its owner can read, in such a directory. Never overwrites a file. */
export async function writePrivately(path: string, name: string, text: string): Promise<void> {
  await orFault(join(path, name), async () => {
    await mkdir(path, { recursive: true, mode: 0o700 })
    await writeFile(join(path, name), text, { mode: 0o600, flag: 'wx' })
  })
}

/** Says why a key cannot be made or used, and what to do. */
export function refused(reason: string): Fault {
  return new Fault('keys', { reason })
}

/** Replaces the name of the signing key atomically: no gateway reads half of it. */
export async function writeSigner(path: string, kid: string): Promise<void> {
  const draft = join(path, `.${signerFile}.new`)
  await orFault(join(path, signerFile), async () => {
    await rm(draft, { force: true })
    await writeFile(draft, `${kid}\n`, { mode: 0o644, flag: 'wx' })
    await rename(draft, join(path, signerFile))
  })
}

async function orFault(file: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason =
      code === 'EEXIST'
        ? 'already exists: keys are never overwritten'
        : `cannot be written (${code})`
    throw refused(`${file} ${reason}`)
  }
}
