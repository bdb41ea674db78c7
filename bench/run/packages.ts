import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bench } from './places.ts'

/**
 * Brings the packages of bench/package-lock.json into bench/node_modules, when they are not there
 * yet. Where npm cannot, the peers that need them say so.
 */
export function installPackages(note: (text: string) => void): void {
  const lock = readFileSync(join(bench, 'package-lock.json'))
  const digest = createHash('sha256').update(lock).digest('hex')
  const stamp = join(bench, 'node_modules', '.bench-lock')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return
  note('installing the packages of bench/package-lock.json …')
  const { status } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: bench, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  if (status === 0) writeFileSync(stamp, digest)
  else note('npm could not install them; is the npm registry reachable?')
}
