import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * A signing secret for a machine where nobody configured one: made at the first start, kept for
 * the next ones, readable by its owner only. Where the mode allows no generated secret, the
 * configuration check has already refused.
 */
export async function generatedSecret(directory: string): Promise<string> {
  const file = join(directory, 'jwt-secret')
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const secret = randomBytes(32).toString('hex')
  await writeFile(file, `${secret}\n`, { mode: 0o600, flag: 'wx' })
  return secret
}
