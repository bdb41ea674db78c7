import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Builds the Postern of a checkout into a directory of this run, as its image is built, and returns
 * its entry point. From source, Node would hold the compiler of types in the memory that is measured.
 */
export function buildPostern(checkout: string, directory: string): string {
  mkdirSync(directory, { recursive: true })
  const packages = join(checkout, 'node_modules')
  const compiler = join(packages, 'typescript', 'bin', 'tsc')
  const project = join(checkout, 'tsconfig.build.json')
  const output = join(directory, 'dist')
  execFileSync(
    process.execPath,
    [compiler, '-p', project, '--noCheck', '--sourceMap', 'false', '--outDir', output],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  copyFileSync(join(checkout, 'package.json'), join(directory, 'package.json'))
  symlinkSync(packages, join(directory, 'node_modules'))
  const bundle = join(checkout, 'scripts', 'bundle.mjs')
  // An older checkout has none.
  if (existsSync(bundle)) execFileSync(process.execPath, [bundle, output])
  return join(output, 'main.js')
}
