import { gatewayOptions, UsageError } from '../command.ts'
import type { GatewayOptions } from '../remote/gateway.ts'

/** What was taken from a command line, and the rest. */
interface TakenOptions {
  readonly argv: readonly string[]
  /** `undefined`: the command runs here. */
  readonly gateway: GatewayOptions | undefined
  /** The words that were taken. */
  readonly words: readonly string[]
}

/**
 * Takes the options of the gateway, which may be anywhere before `--`. Throws `UsageError` if one has
 * no value, is given twice, or makes no sense without a gateway.
 */
export function takeGateway(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): TakenOptions {
  const end = argv.indexOf('--')
  const rest: string[] = []
  const words: string[] = []
  const values = new Map<string, string | true>()
  const given = argv.slice(0, end === -1 ? undefined : end)
  for (let at = 0; at < given.length; at++) {
    const word = given[at] ?? ''
    const [, name = '', inline] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? []
    if (!isGatewayOption(name)) {
      rest.push(word)
      continue
    }
    if (values.has(name)) throw new UsageError(`--${name} is given twice`)
    const value = 'value' in gatewayOptions[name] ? (inline ?? given[++at]) : true
    if (value === true ? inline !== undefined : !value || value.startsWith('-')) {
      throw new UsageError(
        value === true ? `--${name} does not take a value` : `--${name} needs a value`,
      )
    }
    values.set(name, value as string | true)
    words.push(value === true ? word : `--${name}=${value}`)
  }
  const gateway = values.get('gateway') ?? (env['POSTERN_GATEWAY'] || undefined)
  if (gateway === undefined && words.length > 0) {
    throw new UsageError(`${words[0]?.split('=')[0]} is for --gateway: give its URL`)
  }
  return {
    argv: end === -1 ? rest : [...rest, ...argv.slice(end)],
    words,
    gateway:
      gateway === undefined
        ? undefined
        : {
            gateway: String(gateway),
            'ca-file': values.get('ca-file') as string | undefined,
            'allow-http': values.has('allow-http'),
          },
  }
}

function isGatewayOption(name: string): name is keyof typeof gatewayOptions {
  return Object.hasOwn(gatewayOptions, name)
}
