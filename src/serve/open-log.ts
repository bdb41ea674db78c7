import { fstatSync } from 'node:fs'
import type { Config } from '../config/schema/schema.ts'
import { secretsIn } from '../config/secrets.ts'
import { createLog } from '../log/log.ts'
import { createLogDestination } from '../log/log-destination.ts'
import { createTextLines } from '../log/log-text.ts'
import { createClean, createDescribeError } from './describe-error.ts'

/** The outputs of the process. */
export interface Output {
  readonly fd: number
  readonly errorFd: number
  readonly isTerminal: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

export type OpenLog = ReturnType<typeof openLog>

/** The log of a gateway, as text on a terminal. `base` is in every line, to tell processes apart. */
export function openLog(
  config: Config,
  { fd, errorFd, isTerminal, env }: Output,
  base: Readonly<Record<string, number | string>> | undefined,
) {
  const { level, format } = config.logger
  const clean = createClean(secretsIn(config))
  const describe = createDescribeError(clean)
  const destination = createLogDestination(fd)
  const forPeople = format === 'text' || (format === 'auto' && isTerminal)
  const colors = isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const lines = forPeople ? createTextLines(destination, colors) : destination
  const log = createLog(level, lines, { base, describe, clean })
  // Not `process.stderr`, which blocks on a slow reader. One destination where both outputs are the same
  // file: two would write into the middle of each other's lines.
  const errors = isSame(fd, errorFd) ? destination : createLogDestination(errorFd)
  /** Writes what is queued, for the exit of the process. */
  function flush(): void {
    destination.flushSync()
    errors.flushSync()
  }
  return {
    log,
    /** The loggable parts of an error. */
    describe,
    /** Writes lines of a worker as they are. */
    forward: destination.write,
    /** Writes lines of a worker's standard error as they are. */
    forwardErrors: errors.write,
    flush,
  }
}

function isSame(fd: number, other: number): boolean {
  const [one, two] = [fstatSync(fd), fstatSync(other)]
  return one.dev === two.dev && one.ino === two.ino
}
