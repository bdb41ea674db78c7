import { findProgram, isProgram } from './programs.ts'

const wanted = { name: 'promtool', says: /promtool, version (\d+)\./, oldest: 2 }

/**
 * A promtool: the one that POSTERN_TEST_PROMTOOL names, else one of this machine. Throws one line on
 * what to install.
 */
export function findPromtool(): string {
  const named = process.env['POSTERN_TEST_PROMTOOL']
  if (named !== undefined && !isProgram(named, wanted)) {
    throw new Error(`POSTERN_TEST_PROMTOOL names ${named}, which is not promtool 2 or later`)
  }
  const program = named ?? findProgram(wanted)
  if (program !== undefined) return program
  throw new Error(
    'they need promtool 2 or later: install it (Debian: apt-get install prometheus; macOS: brew install prometheus) or name the program in POSTERN_TEST_PROMTOOL',
  )
}
