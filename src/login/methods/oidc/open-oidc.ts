import { resolve } from 'node:path'
import { count } from '../../../kernel/count.ts'
import { oidcPaths } from '../../../kernel/endpoints.ts'
import type { MetricRegistry } from '../../../metrics/registry.ts'
import { createDerivedKeys } from '../../../token/derived-keys.ts'
import { createSealing } from '../../../token/sealing.ts'
import type { MethodParts, OpenLoginMethod, Probe } from '../../method-kind.ts'
import { createBeginLogin } from './begin-login.ts'
import { configurationOf, discover } from './discovery.ts'
import { purposeOf } from './flow.ts'
import { createOidcMethod } from './oidc-method.ts'
import { openLogouts } from './open-logouts.ts'
import { type OpenProvider, openProvider } from './provider.ts'
import type { OidcLogin, OidcSettings } from './settings.ts'

export async function open({ oidc }: OidcLogin, parts: MethodParts): Promise<OpenLoginMethod> {
  const { log, registry, now, claim, linkedAccounts } = parts
  const purpose = parts.console === undefined ? 'oidc-flow' : 'console-oidc-flow'
  const sealing = createSealing(createDerivedKeys(parts.keys, purpose))
  const onResult = countProviderLogins(registry, oidc)
  const opened = withCallbacks(oidc, parts).map((settings) => {
    const provider = openProvider(settings, log)
    const method = createOidcMethod({
      ...{ settings, provider, sealing, now, claim },
      signIn: linkedAccounts.signIn,
      pick: parts.claims.pick,
      onResult: (result) => onResult(settings.name, result),
    })
    return { settings, provider, method }
  })
  const { onIssued, ...logouts } = openLogouts(opened, parts)
  const states = () => opened.map(({ provider }) => provider.state())
  addProviderMetrics(registry, states)
  if (parts.isAlone) {
    const shown = oidc.map(({ name, issuer, create, linkByUsername }) => {
      return { name, issuer, create, linkByUsername }
    })
    log.info({ providers: shown }, 'accepting logins of identity providers')
  }
  const begin = new Map(
    opened.map((each) => [each.settings.name, createBeginLogin({ ...each, sealing, now })]),
  )

  return {
    methods: opened.map(({ method }) => method),
    redirects: {
      ...logouts,
      begin,
      purposeOf: (state, cookie) => purposeOf(sealing, state, cookie),
      buttons: opened.map(({ settings: { name, label = name, icon } }) => {
        return { name, label, icon, path: oidcPaths(name).begin }
      }),
    },
    onIssued,
    details: { identityProviders: states },
    async close() {
      for (const { provider } of opened) provider.close()
    },
  }
}

/** At the console, only with callbacks of its own. */
function withCallbacks(
  all: readonly OidcSettings[],
  { console }: Pick<MethodParts, 'console'>,
): readonly OidcSettings[] {
  if (console === undefined) return all
  const { callbackOf } = console
  if (callbackOf === undefined) return []
  return all.map((each) => {
    return { ...each, redirectUri: callbackOf(oidcPaths(each.name).callback), appRedirectUris: [] }
  })
}

/** Whether a gateway could discover each provider and authenticate to it. */
export function probes({ oidc }: OidcLogin, directory: string): readonly Probe[] {
  return oidc.map((each, index) => {
    const setting = `login.oidc[${index}]`
    const { issuer: url, caFile, clientSecretFile } = each
    const settings = {
      ...each,
      ...(caFile && { caFile: resolve(directory, caFile) }),
      ...(clientSecretFile && { clientSecretFile: resolve(directory, clientSecretFile) }),
    }
    return {
      setting,
      async run(onDate) {
        const askedAt = Date.now()
        try {
          const found = await discover(settings, new AbortController().signal, (date) =>
            onDate(url, askedAt, date),
          )
          await configurationOf(settings, found)
          const keys = count(found.keys.keys.length, 'usable key')
          return [{ ok: `${url} answers with a valid discovery document and ${keys}` }]
        } catch (error) {
          const trust = `set ${setting}.caFile to the certificate of the authority that signed its certificate`
          const server = 'the provider'
          return [{ error, url, server, address: `${setting}.issuer`, trust, isNeeded: true }]
        }
      },
    }
  })
}

/** Counts logins with identity providers; the returned function takes provider and result. */
function countProviderLogins(
  registry: MetricRegistry,
  providers: readonly { readonly name: string }[],
): (provider: string, result: string) => void {
  return registry.counter({
    name: 'postern_provider_logins_total',
    help: 'Logins with an identity provider, by result: logged-in, the kind of refusal, or unavailable.',
    labels: ['provider', 'result'],
    fromZero: providers.flatMap(({ name }) => [
      [name, 'logged-in'],
      [name, 'unavailable'],
    ]),
  })
}

/** Shows whether people can log in with each identity provider. */
function addProviderMetrics(
  registry: MetricRegistry,
  read: () => readonly ReturnType<OpenProvider['state']>[],
): void {
  registry.readGauge({
    name: 'postern_provider_reachable',
    help: '1 if the last fetch of the discovery document and keys of an identity provider succeeded.',
    labels: ['provider'],
    aggregate: 'min',
    read: () => read().map(({ name, reachable }) => [Number(reachable), name]),
  })
  registry.readGauge({
    name: 'postern_provider_usable',
    help: '1 if the discovery document and keys of an identity provider are known. 0: its logins get 503.',
    labels: ['provider'],
    aggregate: 'min',
    read: () => read().map(({ name, usable }) => [Number(usable), name]),
  })
}
