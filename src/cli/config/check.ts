import { configFile, readConfig } from '../../config/load.ts'
import { mixedIdentities } from '../../config/mixed-identities.ts'
import { modeFacts } from '../../config/mode.ts'
import { formatProblem } from '../../errors.ts'
import type { Run } from '../command.ts'
import { count, jsonLine } from '../format.ts'
import { fileProblems } from './files.ts'
import { hostProblems } from './hosts.ts'
import type { checkSpec } from './specs.ts'

/** Reports whether a gateway can start with a configuration. */
export const configCheck: Run<typeof checkSpec> = async ({ options, arguments: [file] }, io) => {
  const source = { file, env: io.env, cwd: io.cwd }
  const { config, written, ...reading } = readConfig(source)
  const problems = [...reading.problems]
  if (written !== undefined && !options['no-files']) {
    problems.push(...(await fileProblems(written, io.cwd)), ...(await hostProblems(written)))
  }
  const ok = problems.length === 0
  const isJson = options.output === 'json'
  if (isJson) io.out(jsonLine({ file: configFile(source), ok, problems }))
  if (config === undefined || !ok) {
    if (!isJson) io.err(`${problems.map(formatProblem).join('\n')}\n`)
    return 3
  }

  const { name, warning } = modeFacts(config.application.mode, config.jwt.timeout)
  for (const each of [warning, mixedIdentities(config)]) {
    if (each !== undefined) io.err(`${configFile(source)}: warning: ${each}\n`)
  }
  if (!isJson) {
    const routes = count(config.routes.length, 'route')
    const upstreams = count(Object.keys(config.upstreams).length, 'upstream')
    io.out(`${configFile(source)}: ok (mode ${name}, ${routes}, ${upstreams})\n`)
  }
  return 0
}
