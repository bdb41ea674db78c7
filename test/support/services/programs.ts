import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where package managers put servers without putting them on the path. */
const usualPlaces = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/usr/libexec/postgresql*',
  '/usr/local/pgsql/bin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/usr/bin',
  '/usr/sbin',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/{redis,postgresql*}/bin',
  '/usr/local/opt/{redis,postgresql*}/bin',
  '/Applications/Postgres.app/Contents/Versions/*/bin',
]

/** A server: its program, how it tells its version, and the oldest one that will do. */
export interface Wanted {
  readonly name: string
  /** What it is asked with; `--version` if nothing else is said. */
  readonly asked?: string
  readonly says: RegExp
  readonly oldest: number
}

/**
 * The first such program on the path or in the usual places. POSTERN_TEST_PLACES stands in for the
 * usual places, so that their absence can be tried.
 */
export function findProgram(wanted: Wanted): string | undefined {
  const path = (process.env['PATH'] ?? '').split(delimiter)
  const places = process.env['POSTERN_TEST_PLACES']?.split(delimiter) ?? usualPlaces
  return [...path, ...places.flatMap(newestFirst)]
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, wanted.name))
    .find((program) => isProgram(program, wanted))
}

/** Whether this is that program, can be run, and is new enough. */
export function isProgram(program: string, { asked = '--version', says, oldest }: Wanted): boolean {
  const { stdout, stderr, status } = spawnSync(program, [asked], { encoding: 'utf8' })
  // nginx tells it where others complain.
  return status === 0 && Number(says.exec(stdout + stderr)?.[1]) >= oldest
}

function newestFirst(place: string): string[] {
  if (place === '') return []
  return globSync(place).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
}
