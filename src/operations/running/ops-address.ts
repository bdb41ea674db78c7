import { isIPv6 } from 'node:net'
import { configFile, draftOfEnvironment } from '../../config/load.ts'
import type { Config, Draft } from '../../config/schema/schema.ts'
import { Invalid } from '../../kernel/errors.ts'
import { printable } from '../../kernel/printable.ts'
import type { Context } from '../context.ts'
import { InvalidInput } from '../invalid-input.ts'
import { firstOf, readWithoutSecret } from '../policy-settings.ts'

/**
 * The URL of an ops listener: the given one, or that of the configuration. An invalid configuration is
 * noted and used as far as it goes: a gateway that rejects it is the one that people ask about. Throws
 * `Invalid` if its file cannot be read, or if only the gateway knows its port.
 */
export function opsAddress(ops: string | undefined, context: OpsContext): string {
  return ops === undefined ? configuredOps(context) : parseOps(ops)
}

export type OpsContext = Omit<Context, 'actor' | 'now'>

function parseOps(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidInput(
      'ops',
      `write a URL such as http://127.0.0.1:9100, not ${JSON.stringify(text)}`,
    )
  }
  return url.origin
}

function configuredOps(context: OpsContext): string {
  const source = { file: context.configFile, env: context.env, cwd: context.cwd }
  const { config, problems, written } = readWithoutSecret(source)
  const ops = config?.ops ?? opsIn(written?.draft ?? draftOfEnvironment(source))
  if (ops === undefined) throw new Invalid(problems)
  if (ops.port === 0) {
    const message =
      'ops.port is 0, so the port is known to the gateway only: give it with --ops URL'
    throw new Invalid([{ file: configFile(source), message }])
  }
  const address = opsUrl(ops)
  if (config === undefined) {
    context.err(
      `note: ${printable(`the configuration is not valid (${firstOf(problems)}); asking ${address}, use --ops if the gateway listens elsewhere`)}\n`,
    )
  }
  return address
}

/** A setting with a problem has its default in a draft. */
function opsIn(draft: Draft | undefined): Config['ops'] | undefined {
  const { host, port } = draft?.ops ?? {}
  return host === undefined || port === undefined ? undefined : { host, port }
}

/** Where the ops listener of this configuration can be reached from this machine. */
export function opsUrl({ host, port }: Config['ops']): string {
  // An address that means "all of them" can be listened on, but not connected to.
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`
}
