// Runs before `npm start` and `npm test`, on whatever Node the machine has: brings the exact
// packages of the lockfile, the pinned Node runtime among them, when they are not there yet.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const lock = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex')
const stamp = 'node_modules/.postern-lock'
const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''

if (installed !== lock) {
  console.error('postern: installing the packages of package-lock.json …')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { status } = spawnSync(
    npm,
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: process.platform === 'win32',
    },
  )
  if (status !== 0) {
    console.error('postern: npm ci failed; is the npm registry reachable?')
    process.exit(1)
  }
  writeFileSync(stamp, lock)
}

const bundled = 'node_modules/.bin/node'
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (!existsSync(bundled) && (major < 22 || (major === 22 && minor < 19))) {
  console.error(
    `postern: no Node runtime is packaged for ${process.platform}-${process.arch}, and this one is ` +
      `${process.version}; install Node 24 (at least 22.19) and try again`,
  )
  process.exit(1)
}
