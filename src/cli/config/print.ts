import { stringify } from 'yaml'
import { readConfig } from '../../config/load.ts'
import { redacted } from '../../config/secrets.ts'
import { formatProblem } from '../../kernel/errors.ts'
import type { Run } from '../command.ts'
import { json } from '../format.ts'
import type { printSpec } from './specs.ts'

/** Prints what a start would use: file, environment and defaults merged, with secrets masked. */
export const configPrint: Run<typeof printSpec> = async ({ options, arguments: [file] }, io) => {
  const { config, problems } = readConfig({ file, env: io.env, cwd: io.cwd })
  if (config === undefined) {
    io.err(`${problems.map(formatProblem).join('\n')}\n`)
    return 3
  }

  const shown = redacted(config)
  io.out(options.output === 'json' ? json(shown) : stringify(shown))
  return 0
}
