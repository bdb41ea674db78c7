import { resolve } from 'node:path'
import { configuredIssuers } from '../../config/issuers.ts'
import type { Config } from '../../config/schema/schema.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import type { FailedProbe, Probe } from '../../login/method-kind.ts'
import { loginMethods } from '../../login/methods/login-methods.ts'
import { fetchKeys } from '../../token/issuers/fetch-keys.ts'
import { count } from '../format.ts'
import type { ClockSamples } from './clock.ts'
import { connectionFailure } from './connection-fix.ts'
import { type Finding, ok, problem, warning } from './finding.ts'
import type { Check } from './run-checks.ts'

/** Whether those who vouch for people can be asked: issuers, and the systems of login methods. */
export async function providerChecks(
  { issuers, login }: Config,
  cwd: string,
  clock: ClockSamples,
): Promise<readonly Check[]> {
  const at = (file: string | undefined) => (file === undefined ? undefined : resolve(cwd, file))
  const configured = loginMethods.filter(({ isConfigured }) => isConfigured(login))
  const methods = await Promise.all(configured.map(({ load }) => load()))
  return [
    ...configuredIssuers(issuers).map((issuer, index) => {
      const name = `issuers[${index}]`
      const source = { ...issuer, caFile: at(issuer.caFile), tokenFile: at(issuer.tokenFile) }
      return { name, run: () => checkIssuer(name, source, clock) }
    }),
    ...methods.flatMap(({ probes }) => probes?.(login, cwd) ?? []).map(toCheck),
  ]

  function toCheck({ setting: name, run }: Probe): Check {
    return {
      name,
      async run() {
        const answers = await run((url, askedAt, date) => addDate(clock, url, askedAt, date))
        return answers.map((each) => ('ok' in each ? ok(name, each.ok) : failure(name, each)))
      },
    }
  }
}

async function checkIssuer(
  name: string,
  issuer: Parameters<typeof fetchKeys>[0],
  clock: ClockSamples,
): Promise<readonly Finding[]> {
  const askedAt = Date.now()
  try {
    const { keys } = await fetchKeys(issuer, new AbortController().signal, (date) =>
      addDate(clock, issuer.issuer, askedAt, date),
    )
    return [ok(name, `${issuer.issuer} publishes ${count(keys.length, 'usable key')}`)]
  } catch (error) {
    const setting = issuer.jwksUri === undefined ? 'issuer' : 'jwksUri'
    const trust = `set ${name}.caFile to the certificate of the authority that signed its certificate`
    const asked = { server: 'the provider', address: `${name}.${setting}`, trust, isNeeded: true }
    return [failure(name, { ...asked, url: issuer[setting] ?? '', error })]
  }
}

/** The header has whole seconds. */
function addDate(clock: ClockSamples, issuer: string, askedAt: number, date: string): void {
  const theirs = Date.parse(date)
  if (Number.isNaN(theirs)) return
  const source = new URL(issuer).host
  clock.add({ source, theirs, askedAt, answeredAt: Date.now(), stepMs: 1000 })
}

function failure(name: string, { error, url, isNeeded, instead, ...asked }: FailedProbe): Finding {
  if (error instanceof Invalid) {
    return problem(name, error.message, `fix the file, or correct the setting in ${name}`)
  }
  if (error instanceof Fault) return problem(name, error.message, `fix the file named in ${name}`)
  const { reason, fix } = connectionFailure(error, asked)
  const shown = instead ?? { message: `${url}: ${reason}`, fix }
  return (isNeeded ? problem : warning)(name, shown.message, shown.fix)
}
