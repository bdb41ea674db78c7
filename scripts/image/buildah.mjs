import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { atEnd, work } from './workplace.mjs'

const places = ['--root', join(work, 's'), '--runroot', join(work, 'r')]
const storage = ['--storage-driver', storageDriver(), ...places]
const run = promisify(execFile)
atEnd(() => spawnSync('buildah', [...storage, 'umount', '--all'], { stdio: 'ignore' }))

/** overlay shares what layers have in common; vfs copies it, but works everywhere. */
function storageDriver() {
  const args = ['--storage-driver', 'overlay', ...places, 'info']
  return spawnSync('buildah', args, { stdio: 'ignore' }).status === 0 ? 'overlay' : 'vfs'
}

/** What it prints. Rejects with its standard error in `stderr`. */
export async function buildah(...args) {
  const { stdout } = await run('buildah', [...storage, ...args], { maxBuffer: 64 * 1024 * 1024 })
  return stdout.trim()
}

/** Whether the image is there now; `false` after two minutes as well. */
export async function pull(image) {
  const args = [...storage, 'pull', '--quiet', '--retry', '0', image]
  return run('buildah', args, { timeout: 120_000 }).then(
    () => true,
    () => false,
  )
}
