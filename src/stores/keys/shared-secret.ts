import { randomBytes } from 'node:crypto'
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'
import { type SigningKey, secretKey } from '../../token/keys.ts'
import { ownerForNewFile } from '../files/directory-owner.ts'

/**
 * The key of `jwt.secret`, if there is one. Generates a secret only if no signing key is configured,
 * and accepts a short one only where the mode allows it.
 */
export async function sharedSecret(
  { secret, keyDirectory }: { readonly secret?: string; readonly keyDirectory?: string },
  { dataDirectory, weakAllowed }: { dataDirectory: string; weakAllowed: boolean },
): Promise<SigningKey | undefined> {
  if (secret === undefined && keyDirectory !== undefined) return undefined
  return secretKey(secret ?? (await generatedSecret(dataDirectory)), weakAllowed ? 1 : 32)
}

/**
 * A signing secret for a machine without a configured one: generated at the first start, kept for
 * the next ones, readable by its owner only. Where the mode allows no generated secret, the
 * configuration check has already refused.
 */
async function generatedSecret(directory: string): Promise<string> {
  const { file, secret: kept } = await readGeneratedSecret(directory)
  if (kept !== undefined) return kept
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const secret = randomBytes(32).toString('hex')
  await writeFile(file, `${secret}\n`, { mode: 0o600, flag: 'wx' })
  // A command that root runs before the first start must not lock the gateway's user out.
  const owner = await ownerForNewFile(directory)
  if (owner !== undefined) await chown(file, owner.uid, owner.gid)
  return secret
}

/** The secret that an earlier start generated, if there was one. Throws `Invalid` for an unusable file. */
export async function readGeneratedSecret(
  directory: string,
): Promise<{ readonly file: string; readonly secret: string | undefined }> {
  const file = join(directory, 'jwt-secret')
  try {
    const secret = (await readFile(file, 'utf8')).trim()
    if (secret.length >= 32) return { file, secret }
    throw new Invalid([
      {
        file,
        message:
          'does not contain a secret of at least 32 characters: delete it to generate a new one',
      },
    ])
  } catch (error) {
    if (error instanceof Invalid) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { file, secret: undefined }
    throw new Invalid([{ file, message: `cannot be read (${code})` }])
  }
}
