import { configFile, readConfig } from '../../config/load.ts'
import { modeFacts } from '../../config/mode.ts'
import { formatProblem } from '../../errors.ts'
import type { Io } from '../io.ts'
import { fileProblems } from './files.ts'
import { hostProblems } from './hosts.ts'

const USAGE = `usage: postern config check [FILE] [--no-files] [--output text|json]

Reads a configuration and opens the files it names, as serve does: certificates and keys, the key
directory, the policy directory. Also tries to listen on the hosts it names, on a free port. Prints
every problem. --no-files skips files and hosts, for a machine that does not have them, such as CI.

Exit codes: 0 usable, 3 not usable, 2 bad arguments.
`

/** Says whether a configuration can be started with. Exit code 0 yes, 2 bad arguments, 3 no. */
export async function configCheck(
  args: readonly string[],
  io: Pick<Io, 'out' | 'err' | 'env' | 'cwd'>,
): Promise<number> {
  const wanted = readFileArguments(args.filter((arg) => arg !== '--no-files'))
  if (wanted === undefined) {
    io.err(USAGE)
    return 2
  }

  const source = { file: wanted.file, env: io.env, cwd: io.cwd }
  const reading = readConfig(source)
  const { config, written } = reading
  const problems = [...reading.problems]
  if (written !== undefined && !args.includes('--no-files')) {
    problems.push(...(await fileProblems(written, io.cwd)), ...(await hostProblems(written)))
  }
  const ok = problems.length === 0
  if (wanted.output === 'json') {
    io.out(`${JSON.stringify({ file: configFile(source), ok, problems })}\n`)
  }
  if (config === undefined || !ok) {
    if (wanted.output === 'text') io.err(`${problems.map(formatProblem).join('\n')}\n`)
    return 3
  }

  const { name, warning } = modeFacts(config.application.mode, config.jwt.timeout)
  if (warning !== undefined) io.err(`${configFile(source)}: warning: ${warning}\n`)
  if (wanted.output === 'text') {
    const routes = count(config.routes.length, 'route')
    const upstreams = count(Object.keys(config.upstreams).length, 'upstream')
    io.out(`${configFile(source)}: ok (mode ${name}, ${routes}, ${upstreams})\n`)
  }
  return 0
}

/** `[FILE] [--output text|json]` in any order, or nothing when the arguments are something else. */
export function readFileArguments(
  args: readonly string[],
): { readonly file: string | undefined; readonly output: 'text' | 'json' } | undefined {
  let file: string | undefined
  let output: 'text' | 'json' | undefined

  const rest = args.flatMap((arg) => (arg.startsWith('--output=') ? arg.split(/=(.*)/, 2) : [arg]))
  while (rest.length > 0) {
    const arg = rest.shift()
    if (arg === '--output' && output === undefined) {
      const value = rest.shift()
      if (value !== 'text' && value !== 'json') return undefined
      output = value
    } else if (file === undefined && arg !== undefined && !arg.startsWith('-')) file = arg
    else return undefined
  }
  return { file, output: output ?? 'text' }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
