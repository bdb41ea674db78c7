import { resolve } from 'node:path'
import { configuredIssuers } from '../../config/issuers.ts'
import type { Config } from '../../config/schema/schema.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { createDeadline } from '../../login/methods/ldap/deadline.ts'
import { createDirectoryServer } from '../../login/methods/ldap/directory-server.ts'
import { configurationOf, discover } from '../../login/methods/oidc/discovery.ts'
import { fetchKeys } from '../../token/issuers/fetch-keys.ts'
import { count } from '../format.ts'
import type { ClockSamples } from './clock.ts'
import { connectionFailure } from './connection-fix.ts'
import { type Finding, ok, problem, warning } from './finding.ts'
import type { Check } from './run-checks.ts'

/** Whether those who vouch for people can be asked: issuers, identity providers and a directory. */
export function providerChecks(
  { issuers, login }: Config,
  cwd: string,
  clock: ClockSamples,
): readonly Check[] {
  const at = (file: string | undefined) => (file === undefined ? undefined : resolve(cwd, file))
  return [
    ...configuredIssuers(issuers).map((issuer, index) => {
      const name = `issuers[${index}]`
      const source = { ...issuer, caFile: at(issuer.caFile), tokenFile: at(issuer.tokenFile) }
      return { name, run: () => checkIssuer(name, source, clock) }
    }),
    ...login.oidc.map((settings, index) => {
      const name = `login.oidc[${index}]`
      const clientSecretFile = at(settings.clientSecretFile)
      const provider = { ...settings, caFile: at(settings.caFile), clientSecretFile }
      return { name, run: () => checkProvider(name, provider, clock) }
    }),
    ...(login.ldap === undefined
      ? []
      : [ldapCheck({ ...login.ldap, caFile: at(login.ldap.caFile) })]),
  ]
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
    return [failure(name, { url: issuer[setting] ?? '', setting }, error)]
  }
}

async function checkProvider(
  name: string,
  provider: Parameters<typeof discover>[0],
  clock: ClockSamples,
): Promise<readonly Finding[]> {
  const askedAt = Date.now()
  try {
    const found = await discover(provider, new AbortController().signal, (date) =>
      addDate(clock, provider.issuer, askedAt, date),
    )
    await configurationOf(provider, found)
    const keys = count(found.keys.keys.length, 'usable key')
    return [ok(name, `${provider.issuer} answers with a valid discovery document and ${keys}`)]
  } catch (error) {
    return [failure(name, { url: provider.issuer, setting: 'issuer' }, error)]
  }
}

/** The header has whole seconds. */
function addDate(clock: ClockSamples, issuer: string, askedAt: number, date: string): void {
  const theirs = Date.parse(date)
  if (Number.isNaN(theirs)) return
  const source = new URL(issuer).host
  clock.add({ source, theirs, askedAt, answeredAt: Date.now(), stepMs: 1000 })
}

function failure(
  name: string,
  { url, setting }: { readonly url: string; readonly setting: string },
  error: unknown,
): Finding {
  if (error instanceof Invalid) {
    return problem(name, error.message, `fix the file, or correct the setting in ${name}`)
  }
  if (error instanceof Fault) return problem(name, error.message, `fix the file named in ${name}`)
  const { reason, fix } = connectionFailure(error, {
    server: 'the provider',
    address: `${name}.${setting}`,
    trust: `set ${name}.caFile to the certificate of the authority that signed its certificate`,
  })
  return problem(name, `${url}: ${reason}`, fix)
}

type Directory = Parameters<typeof createDirectoryServer>[1]

/** Each server; while one of them answers, people can log in. */
function ldapCheck(settings: Directory): Check {
  const name = 'login.ldap'
  return {
    name,
    async run() {
      const tried = await Promise.all(settings.urls.map((url) => probe(url, settings)))
      const isDown = tried.every(({ error }) => error !== undefined)
      return tried.map(({ url, error }) => {
        if (error === undefined) {
          const how = settings.bindDn === undefined ? 'accepts connections' : 'accepts bindDn'
          return ok(name, `${url} ${how}`)
        }
        const { reason, fix } = connectionFailure(error, {
          server: 'the directory server',
          address: 'login.ldap.urls',
          trust: 'set login.ldap.caFile to the certificate of the authority that signed it',
        })
        const isRefused = /refused login\.ldap\.bindDn/.test(String(error))
        const shown = isRefused ? `${url} refused login.ldap.bindDn` : `${url}: ${reason}`
        const cure =
          'correct login.ldap.bindDn and bindPassword; repeated attempts may lock the account'
        return (isDown ? problem : warning)(name, shown, isRefused ? cure : fix)
      })
    },
  }
}

async function probe(
  url: string,
  settings: Directory,
): Promise<{ readonly url: string; readonly error?: unknown }> {
  const server = createDirectoryServer(url, settings)
  try {
    await server.probe(createDeadline(settings.timeoutMs))
    return { url }
  } catch (error) {
    return { url, error }
  } finally {
    server.close()
  }
}
