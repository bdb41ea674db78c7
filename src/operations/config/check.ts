import { identityWarnings } from '../../config/identity-warnings.ts'
import { configFile, readConfig } from '../../config/load.ts'
import { modeFacts } from '../../config/mode.ts'
import type { Config } from '../../config/schema/schema.ts'
import { count } from '../../kernel/count.ts'
import { isLoopback } from '../../kernel/key-url.ts'
import type { RunOf } from '../operation.ts'
import type { configCheck } from './descriptions.ts'
import { checkFiles } from './files.ts'
import { hostProblems } from './hosts.ts'
import { bypassesIn } from './route-bypasses.ts'

/** Reports whether a gateway can start with a configuration. */
export const run: RunOf<typeof configCheck> = async (input, context) => {
  const { env, cwd } = context
  const source = { file: input.file ?? context.configFile, env, cwd }
  const { config, written, ...reading } = readConfig(source)
  const problems = [...reading.problems]
  if (written !== undefined && !input['no-files']) {
    const files = await checkFiles(written, cwd)
    problems.push(...files.flatMap((file) => file.problems), ...(await hostProblems(written)))
  }
  const ok = problems.length === 0
  const found = { file: configFile(source), ok, problems }
  return config === undefined
    ? { document: { ...found, warnings: [] }, outcome: 'invalid' }
    : {
        document: { ...found, warnings: warningsOf(config), summary: summaryOf(config) },
        outcome: ok ? 'done' : 'invalid',
      }
}

/** What a gateway starts with, but probably should not. */
export function warningsOf(config: Config): readonly string[] {
  const { warning } = modeFacts(config.application.mode, config.jwt.timeout)
  const found = [warning, plainHttp(config), ...identityWarnings(config), ...bypassesIn(config)]
  return found.filter((each) => each !== undefined)
}

/** Anyone in the network reads plain HTTP, and browsers drop a `Secure` cookie that comes over it, except from their own machine. */
function plainHttp({ application, tls, cookie, login }: Config): string | undefined {
  const { host, mode, trustedProxies } = application
  if (!modeFacts(mode, 0).secureCookie) return undefined
  if (tls !== undefined || trustedProxies.length > 0) return undefined
  if (isLoopback(host) || host === '::1') return undefined
  const whose = login.page.enabled ? 'the login page' : 'a login'
  const why = cookie.set
    ? `browsers drop the cookie of ${whose} over plain HTTP because it is Secure, so people cannot log in`
    : 'anyone in the network can read passwords and tokens'
  return `application.host: ${JSON.stringify(host)} serves plain HTTP, and ${why}; set tls, or list the TLS proxy in front in application.trustedProxies`
}

/** `mode dev, 1 route, 1 upstream`. */
export function summaryOf({ application, jwt, routes, upstreams }: Config): string {
  const { name } = modeFacts(application.mode, jwt.timeout)
  const number = Object.keys(upstreams).length
  return `mode ${name}, ${count(routes.length, 'route')}, ${count(number, 'upstream')}`
}
