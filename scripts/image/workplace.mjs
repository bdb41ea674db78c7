import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The top of the repository. */
export const root = join(import.meta.dirname, '../..')
/** Holds everything that the check makes. */
export const work = mkdtempSync(join(tmpdir(), 'postern-image-'))
// The user of the image reads the files that are mounted from here.
chmodSync(work, 0o755)

const undoings = []
/** Does this at the end, whichever way it ends; the latest first. */
export function atEnd(undo) {
  undoings.unshift(undo)
}

process.on('exit', () => {
  for (const undo of undoings) undo()
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

export function has(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0
}
