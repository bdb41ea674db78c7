import { parseArgs } from 'node:util'

/** What `user` was asked to do. */
export type UserArguments = { readonly config: string | undefined } & (
  | {
      readonly verb: 'add'
      readonly name: string
      readonly role: string
      readonly passwordFromStdin: boolean
    }
  | { readonly verb: 'passwd'; readonly name: string; readonly passwordFromStdin: boolean }
  | { readonly verb: 'disable'; readonly name: string }
  | { readonly verb: 'list'; readonly output: 'text' | 'json' }
)

export const usage = `usage: postern user add NAME --role KEY [--password-stdin] [--config FILE]
       postern user passwd NAME [--password-stdin] [--config FILE]
       postern user list [--output text|json] [--config FILE]
       postern user disable NAME [--config FILE]
`

const options = {
  config: { type: 'string' },
  role: { type: 'string' },
  output: { type: 'string' },
  'password-stdin': { type: 'boolean' },
} as const

/** Every option each verb takes; another verb's option is a mistake, not something to ignore. */
const taken: Readonly<Record<string, readonly string[]>> = {
  add: ['config', 'role', 'password-stdin'],
  passwd: ['config', 'password-stdin'],
  list: ['config', 'output'],
  disable: ['config'],
}

/** The arguments, understood completely, or `undefined`. */
export function parseUserArguments(args: readonly string[]): UserArguments | undefined {
  const parsed = parse(args)
  if (parsed === undefined) return undefined
  const [verb = '', name, ...more] = parsed.positionals
  const {
    config,
    role,
    output = 'text',
    'password-stdin': passwordFromStdin = false,
  } = parsed.values
  if (more.length > 0) return undefined
  if (!Object.keys(parsed.values).every((option) => taken[verb]?.includes(option))) return undefined

  if (verb === 'list') {
    if (name !== undefined || (output !== 'text' && output !== 'json')) return undefined
    return { verb, config, output }
  }
  if (name === undefined) return undefined
  if (verb === 'disable') return { verb, config, name }
  if (verb === 'passwd') return { verb, config, name, passwordFromStdin }
  if (verb === 'add' && role !== undefined) return { verb, config, name, role, passwordFromStdin }
  return undefined
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch {
    return undefined
  }
}
