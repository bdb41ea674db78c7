import { existsSync } from 'node:fs'
import { join } from 'node:path'
import manifest from './old-node/package.json' with { type: 'json' }
import { fetchPackages } from './packages.ts'

const names = Object.keys(manifest.optionalDependencies)
const programOf = (home: string, name: string) => join(home, 'node_modules', name, 'bin', 'node')

/**
 * Programs of Node that are too old for Postern, from packages that npm fetches (Linux on x64).
 * `undefined` where there are none.
 */
export function findOldNodes(): readonly string[] | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const home = fetchPackages({
    name: 'old-node',
    why: 'fetching old versions of Node with npm',
    missing: (beside) => names.find((name) => !existsSync(programOf(beside, name))),
  })
  if (home === undefined) return undefined
  return names.map((name) => programOf(home, name))
}
