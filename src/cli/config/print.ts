import { stringify } from 'yaml'
import { readConfig } from '../../config/load.ts'
import { redacted } from '../../config/redacted.ts'
import { formatProblem } from '../../errors.ts'
import type { Io } from '../io.ts'
import { readFileArguments } from './check.ts'

const USAGE = 'usage: postern config print [FILE] [--output text|json]\n'

/**
 * Prints what a start would really use: file, environment and defaults in one, secrets masked.
 * Exit code 0, 2 bad arguments, 3 when the configuration is invalid.
 */
export async function configPrint(
  args: readonly string[],
  io: Pick<Io, 'out' | 'err' | 'env' | 'cwd'>,
): Promise<number> {
  const wanted = readFileArguments(args)
  if (wanted === undefined) {
    io.err(USAGE)
    return 2
  }

  const { config, problems } = readConfig({ file: wanted.file, env: io.env, cwd: io.cwd })
  if (config === undefined) {
    io.err(`${problems.map(formatProblem).join('\n')}\n`)
    return 3
  }

  const shown = redacted(config)
  io.out(wanted.output === 'json' ? `${JSON.stringify(shown, undefined, 2)}\n` : stringify(shown))
  return 0
}
