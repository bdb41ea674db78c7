import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The top of the repository. */
export const root = join(import.meta.dirname, '../..')
/** Holds everything that the check makes. Whoever started it removes it, once no process uses it. */
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
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

export function has(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0
}
