import { resolve } from 'node:path'
import { configuredIssuers } from '../../config/issuers.ts'
import type { Config } from '../../config/schema/schema.ts'
import { count } from '../../kernel/count.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import type { FailedProbe, Probe } from '../../login/method-kind.ts'
import { loginMethods } from '../../login/methods/login-methods.ts'
import { fetchKeys } from '../../token/issuers/fetch-keys.ts'
import type { ClockSamples } from './clock.ts'
import { connectionFailure } from './connection-fix.ts'
import type { Check, Report } from './run-checks.ts'

/** Whether those who vouch for people can be asked: issuers, and the systems of login methods. */
export async function providerChecks(
  { issuers, login }: Config,
  cwd: string,
  clock: ClockSamples,
): Promise<readonly Check[]> {
  const configured = loginMethods.filter(({ isConfigured }) => isConfigured(login))
  const methods = await Promise.all(configured.map(({ load }) => load()))
  const probes = methods.flatMap((each) => each.probes?.(login, cwd) ?? [])
  return [...configuredIssuers(issuers).map(probeOf), ...probes].map(({ setting, run }) => ({
    name: setting,
    async run(report) {
      for (const each of await run((url, askedAt, date) => addDate(clock, url, askedAt, date))) {
        if ('ok' in each) report.ok(each.ok)
        else reportFailure(report, setting, each)
      }
    },
  }))

  function probeOf(issuer: ReturnType<typeof configuredIssuers>[number], index: number): Probe {
    const at = (file: string | undefined) => (file === undefined ? undefined : resolve(cwd, file))
    const name = `issuers[${index}]`
    const source = { ...issuer, caFile: at(issuer.caFile), tokenFile: at(issuer.tokenFile) }
    const setting = issuer.jwksUri === undefined ? 'issuer' : 'jwksUri'
    const trust = `set ${name}.caFile to the certificate of the authority that signed its certificate`
    const server = { server: 'the provider', address: `${name}.${setting}`, trust, isNeeded: true }
    return {
      setting: name,
      async run(onDate) {
        const askedAt = Date.now()
        try {
          const { keys } = await fetchKeys(source, new AbortController().signal, (date) =>
            onDate(issuer.issuer, askedAt, date),
          )
          return [{ ok: `${issuer.issuer} publishes ${count(keys.length, 'usable key')}` }]
        } catch (error) {
          return [{ ...server, url: issuer[setting] ?? '', error }]
        }
      },
    }
  }
}

/** The header has whole seconds. */
function addDate(clock: ClockSamples, issuer: string, askedAt: number, date: string): void {
  const theirs = Date.parse(date)
  if (Number.isNaN(theirs)) return
  const source = new URL(issuer).host
  clock.add({ source, theirs, askedAt, answeredAt: Date.now(), stepMs: 1000 })
}

function reportFailure(report: Report, name: string, failed: FailedProbe): void {
  const { error, url, isNeeded, instead, ...server } = failed
  if (error instanceof Invalid) {
    report.problem(error.message, `fix the file, or correct the setting in ${name}`)
  } else if (error instanceof Fault) report.problem(error.message, `fix the file named in ${name}`)
  else {
    const { reason, fix } = connectionFailure(error, server)
    const shown = instead ?? { message: `${url}: ${reason}`, fix }
    report[isNeeded ? 'problem' : 'warning'](shown.message, shown.fix)
  }
}
