import { fstatSync } from 'node:fs'
import type { Config } from '../config/schema/schema.ts'
import { secretsIn } from '../config/secrets.ts'
import { createLog, type Log } from '../log/log.ts'
import { createLogDestination } from '../log/log-destination.ts'
import { createTextLines } from '../log/log-text.ts'
import { createClean, createDescribeError, type DescribeError } from './describe-error.ts'

/** Standard output, and who reads there. */
export interface Output {
  readonly fd: number
  readonly errorFd: number
  readonly isTerminal: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface OpenLog {
  readonly log: Log
  /** What of an error may stand in it. */
  readonly describe: DescribeError
  /** Takes lines as they are, of another process that belongs to this one. */
  readonly forward: (lines: string) => void
  /** The same for what it said on its standard error. */
  readonly forwardErrors: (lines: string) => void
  /** Writes what waits, for the end of the process. */
  readonly flush: () => void
}

/**
 * The log of a gateway, for people where one reads. `base` stands in every line, and tells
 * processes apart whose lines go to one output.
 */
export function openLog(
  config: Config,
  { fd, errorFd, isTerminal, env }: Output,
  base: Readonly<Record<string, number>> | undefined,
): OpenLog {
  const { level, format } = config.logger
  const clean = createClean(secretsIn(config))
  const describe = createDescribeError(clean)
  const destination = createLogDestination(fd)
  const forPeople = format === 'text' || (format === 'auto' && isTerminal)
  const colours = isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const lines = forPeople ? createTextLines(destination, colours) : destination
  const log = createLog(level, lines, { base, describe, clean })
  // Not Node's, which waits for whoever reads. And no second one where both are the same: with a
  // slow reader it would write into the middle of a line.
  const errors = isSame(fd, errorFd) ? destination : createLogDestination(errorFd)
  function flush(): void {
    destination.flushSync()
    errors.flushSync()
  }
  return { log, describe, forward: destination.write, forwardErrors: errors.write, flush }
}

function isSame(fd: number, other: number): boolean {
  const [one, two] = [fstatSync(fd), fstatSync(other)]
  return one.dev === two.dev && one.ino === two.ino
}
