import { installed } from './package-managers.ts'
import { findProgram, isProgram } from './programs.ts'

/** 6.2 is the first version with XAUTOCLAIM and GETDEL. */
const wanted = {
  name: 'redis-server',
  says: /(?:Redis|Valkey) server v=(\d+\.\d+)/,
  oldest: 6.2,
}

const packages = { 'apt-get': 'redis-server', apk: 'redis', dnf: 'redis', brew: 'redis' }

/**
 * A redis-server: the one that POSTERN_TEST_REDIS names, else one of this machine, else one that
 * the system's package manager brings where that needs nobody's password. Throws one line on what
 * to install.
 */
export function findRedis(): string {
  const named = process.env['POSTERN_TEST_REDIS']
  if (named !== undefined) {
    if (isProgram(named, wanted)) return named
    throw new Error(
      `POSTERN_TEST_REDIS names ${named}, which is no redis-server from ${wanted.oldest} on`,
    )
  }
  const program =
    findProgram(wanted) ?? (installed(wanted.name, packages) ? findProgram(wanted) : undefined)
  if (program !== undefined) return program
  throw new Error(
    `the tests need redis-server ${wanted.oldest} or later: install it (Debian: apt-get install redis-server; macOS: brew install redis) or name the program in POSTERN_TEST_REDIS`,
  )
}
