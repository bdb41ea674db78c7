import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.mjs'
import { stop } from './stop.mjs'

/**
 * Builds and packs in the exported sources, with the packages of the lock file. npm gives every file in an
 * archive the same time. The list of packages is made there too.
 */
export function packPackage(sources, { commit, version }, out) {
  const within = { cwd: sources }
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], within)
  run('npm', ['run', '--silent', 'build'], within)
  // Without .git, the build cannot say what it was made of.
  writeFileSync(join(sources, 'dist/commit'), commit)
  run('npm', ['run', '--silent', 'sbom', '--', join(out, `postern-${version}.cdx.json`)], within)
  run('npm', ['pack', '--silent', '--pack-destination', out], within)
  const name = `postern-${version}.tgz`
  if (!existsSync(join(out, name))) stop(`npm pack has not written ${name}`)
  return name
}
