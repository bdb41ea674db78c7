import { installed } from './package-managers.ts'
import { findProgram, isProgram } from './programs.ts'

/** By its second number. 1.18 is what the oldest systems in use have. */
const wanted = {
  name: 'nginx',
  asked: '-v',
  says: /nginx\/1\.(\d+)/,
  oldest: 18,
}

const packages = { 'apt-get': 'nginx-light', apk: 'nginx', dnf: 'nginx', brew: 'nginx' }

/**
 * An nginx: the one that POSTERN_TEST_NGINX names, else one of this machine, else one that the
 * system's package manager brings where that needs nobody's password. Throws one line on what to
 * install.
 */
export function findNginx(): string {
  const named = process.env['POSTERN_TEST_NGINX']
  if (named !== undefined) {
    if (isProgram(named, wanted)) return named
    throw new Error(`POSTERN_TEST_NGINX names ${named}, which is no nginx from 1.18 on`)
  }
  const program =
    findProgram(wanted) ?? (installed(wanted.name, packages) ? findProgram(wanted) : undefined)
  if (program !== undefined) return program
  throw new Error(
    'they need nginx 1.18 or later: install it (Debian: apt-get install nginx-light; macOS: brew install nginx) or name the program in POSTERN_TEST_NGINX',
  )
}
