import { parseArgs } from 'node:util'

/** What `user` was asked to do. */
export type UserArguments = {
  readonly config: string | undefined
  readonly output: 'text' | 'json'
} & (
  | {
      readonly verb: 'add'
      readonly name: string
      readonly role: string
      readonly passwordFromStdin: boolean
    }
  | { readonly verb: 'passwd'; readonly name: string; readonly passwordFromStdin: boolean }
  | { readonly verb: 'role'; readonly name: string; readonly role: string }
  | { readonly verb: 'disable' | 'enable'; readonly name: string }
  | { readonly verb: 'list' }
)

export const usage = `usage: postern user add NAME --role KEY [--password-stdin]
       postern user passwd NAME [--password-stdin]
       postern user role NAME KEY
       postern user disable NAME
       postern user enable NAME
       postern user list
       each with [--output text|json] [--config FILE]

Works on the configured database, whether or not a gateway runs. A generated password is all that
stands on stdout, once. A new password, another role and disabling end every token of the user, on
every gateway, within a second.

  postern user add alice --role editor               prints her password
  postern user passwd alice --password-stdin < file  takes it from a file instead
  postern user role alice viewer                     she logs in again, as a viewer
  postern user disable alice                         out, now
  postern user list --output json | jq -r '.[] | select(.enabled) | .username'

Exit codes: 0 done, 1 no such user or role, the name is taken, or a store is away, 2 bad arguments,
3 configuration or tables that cannot be used.
`

const options = {
  config: { type: 'string' },
  role: { type: 'string' },
  output: { type: 'string' },
  'password-stdin': { type: 'boolean' },
} as const

/** Every option each verb takes; another verb's option is a mistake, not something to ignore. */
const taken: Readonly<Record<string, readonly string[]>> = {
  add: ['config', 'output', 'role', 'password-stdin'],
  passwd: ['config', 'output', 'password-stdin'],
  role: ['config', 'output'],
  disable: ['config', 'output'],
  enable: ['config', 'output'],
  list: ['config', 'output'],
}

/** The arguments, understood completely, or `undefined`. */
export function parseUserArguments(args: readonly string[]): UserArguments | undefined {
  const parsed = parse(args)
  if (parsed === undefined) return undefined
  const [verb = '', name, second, ...more] = parsed.positionals
  const { config, role, output = 'text' } = parsed.values
  const { 'password-stdin': passwordFromStdin = false } = parsed.values
  if (more.length > 0 || (second !== undefined && verb !== 'role')) return undefined
  if (!Object.keys(parsed.values).every((option) => taken[verb]?.includes(option))) return undefined
  if (output !== 'text' && output !== 'json') return undefined

  const shared = { config, output } as const
  if (verb === 'list') return name === undefined ? { verb, ...shared } : undefined
  if (name === undefined) return undefined
  switch (verb) {
    case 'disable':
    case 'enable':
      return { verb, name, ...shared }
    case 'passwd':
      return { verb, name, passwordFromStdin, ...shared }
    case 'role':
      return second === undefined ? undefined : { verb, name, role: second, ...shared }
    case 'add':
      return role === undefined ? undefined : { verb, name, role, passwordFromStdin, ...shared }
    default:
      return undefined
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch {
    return undefined
  }
}
