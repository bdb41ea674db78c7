import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** The environment of a user, without what steers the tests. */
export function userEnvironment(): NodeJS.ProcessEnv {
  // npm needs the certificate authorities of this machine to reach its registry.
  // `npm exec -c` passes its command on, with which npx refuses every other one.
  const isOurs = (name: string) =>
    /^(?:POSTERN_|NODE_|VITEST|npm_config_call$)/.test(name) && name !== 'NODE_EXTRA_CA_CERTS'
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)))
}

/** Runs a program that must succeed, and returns its stdout. */
export async function succeed(
  program: string,
  args: readonly string[],
  cwd = '.',
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd, env: userEnvironment() })
  return stdout
}

/** Builds the package out of the sources as they are and packs it in `root`. Returns the archive. */
export async function pack(root: string): Promise<string> {
  const built = join(root, 'package')
  mkdirSync(built)
  const node = process.execPath
  for (const project of ['build', 'types', 'client']) {
    const tsc = ['node_modules/typescript/bin/tsc', '-p', `tsconfig.${project}.json`, '--noCheck']
    await succeed(node, [...tsc, '--outDir', join(built, 'dist')])
  }
  symlinkSync(resolve('node_modules'), join(built, 'node_modules'))
  await succeed(node, ['scripts/bundle.mjs', join(built, 'dist')])
  rmSync(join(built, 'node_modules'))
  cpSync(resolve('dist/pages'), join(built, 'dist/pages'), { recursive: true })
  const manifest = readFileSync('package.json', 'utf8')
  const { files } = JSON.parse(manifest) as { readonly files: readonly string[] }
  const named = files.filter((name) => name !== 'dist' && !name.startsWith('!'))
  for (const name of [...named, 'README.md']) {
    cpSync(resolve(name), join(built, name), { recursive: true })
  }
  writeFileSync(join(built, 'package.json'), manifest)
  const packed = await succeed('npm', ['pack', '--silent', '--pack-destination', root], built)
  return join(root, packed.trim())
}

/**
 * Packs the sources as they are, and installs that into the empty directory `app` of `root`, without
 * running scripts. Returns that directory.
 */
export async function installPacked(root: string): Promise<string> {
  const packed = await pack(root)
  const app = join(root, 'app')
  mkdirSync(app)
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await succeed('npm', ['install', ...quiet, '--prefer-offline', packed], app)
  return app
}
