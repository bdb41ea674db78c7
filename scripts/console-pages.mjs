// Builds the pages of the console into dist/pages if they are missing or older than their sources.
// `npm start` and the tests import it; `npm run build:console` always builds.
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

function changedAt(...path) {
  return statSync(join(root, ...path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

const sources = ['console', 'client'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
)
const newest = Math.max(changedAt('package-lock.json'), ...sources.map((name) => changedAt(name)))

if (changedAt('dist', 'pages', 'index.html') <= newest) {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const { status } = spawnSync(process.execPath, [vite, 'build', 'console', '--logLevel=warn'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) throw new Error('the pages of the console could not be built')
}
