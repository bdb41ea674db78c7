import { access, constants, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { geteuid } from 'node:process'

interface OwnerOptions {
  /**
   * Whether the database may be created in a directory of another user: a gateway that runs as root
   * in a container often gets such a volume, and is then the one that uses it.
   */
  readonly mayCreate: boolean
}

/**
 * Why this process must not open the embedded database of `directory`, in one line. Root can write
 * anywhere, but the user that the gateway runs as could not open the files that root leaves behind.
 */
export async function ownerProblem(
  directory: string,
  { mayCreate }: OwnerOptions,
): Promise<string | undefined> {
  const user = geteuid?.()
  const files = join(directory, 'database')
  const created = await ownerOf(files)
  const owner = created ?? (mayCreate ? undefined : await ownerOf(directory))
  if (user === undefined || owner === undefined || owner.uid === user) return undefined

  const name = await userName(owner.uid)
  const belongs = `the embedded database in ${directory} belongs to ${name ?? 'an unnamed user'} (uid ${owner.uid})`
  if (user === 0) {
    const command =
      name === undefined
        ? `setpriv --reuid=${owner.uid} --regid=${owner.gid} --clear-groups postern …`
        : `sudo -u ${name} postern …`
    return `${belongs}, and files created by root would lock its gateway out: start the gateway first, or run this as that user: ${command}`
  }
  if (created === undefined || (await isUsable(files))) return undefined
  return `${belongs}: run this as that user, or change its owner: chown -R ${user} ${directory}`
}

/**
 * The user to give a new file in this directory to. `undefined` unless root creates it in the
 * directory of another user, whose gateway could not read it otherwise.
 */
export async function ownerForNewFile(directory: string): Promise<Owner | undefined> {
  if (geteuid?.() !== 0) return undefined
  const owner = await ownerOf(directory)
  return owner?.uid === 0 ? undefined : owner
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** `undefined` if it is missing or not accessible: opening it will report which. */
async function ownerOf(path: string): Promise<Owner | undefined> {
  try {
    return await stat(path)
  } catch {
    return undefined
  }
}

async function isUsable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Node only knows the name of the user that runs it. */
async function userName(uid: number): Promise<string | undefined> {
  try {
    const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
    return users.find(([, , id]) => id === String(uid))?.[0]
  } catch {
    return undefined
  }
}
