import { identityWarnings } from '../../config/identity-warnings.ts'
import { configFile, readConfig } from '../../config/load.ts'
import { modeFacts } from '../../config/mode.ts'
import type { Config } from '../../config/schema/schema.ts'
import { formatProblem } from '../../kernel/errors.ts'
import type { Run } from '../command.ts'
import { count, jsonLine } from '../format.ts'
import { checkFiles } from './files.ts'
import { hostProblems } from './hosts.ts'
import { nearRoutes } from './near-routes.ts'
import type { checkSpec } from './specs.ts'

/** Reports whether a gateway can start with a configuration. */
export const configCheck: Run<typeof checkSpec> = async ({ options, arguments: [file] }, io) => {
  const source = { file, env: io.env, cwd: io.cwd }
  const { config, written, ...reading } = readConfig(source)
  const problems = [...reading.problems]
  if (written !== undefined && !options['no-files']) {
    const files = await checkFiles(written, io.cwd)
    problems.push(...files.flatMap((file) => file.problems), ...(await hostProblems(written)))
  }
  const ok = problems.length === 0
  const isJson = options.output === 'json'
  const warnings = config === undefined ? [] : warningsOf(config)
  if (isJson) io.out(jsonLine({ file: configFile(source), ok, problems, warnings }))
  if (config === undefined || !ok) {
    if (!isJson) io.err(`${problems.map(formatProblem).join('\n')}\n`)
    return 3
  }

  for (const each of warnings) io.err(`${configFile(source)}: warning: ${each}\n`)
  if (!isJson) {
    const { name } = modeFacts(config.application.mode, config.jwt.timeout)
    const routes = count(config.routes.length, 'route')
    const upstreams = count(Object.keys(config.upstreams).length, 'upstream')
    io.out(`${configFile(source)}: ok (mode ${name}, ${routes}, ${upstreams})\n`)
  }
  return 0
}

/** What a gateway starts with, but probably should not. */
export function warningsOf(config: Config): readonly string[] {
  const { warning } = modeFacts(config.application.mode, config.jwt.timeout)
  const found = [warning, ...identityWarnings(config), ...nearRoutes(config)]
  return found.filter((each) => each !== undefined)
}
