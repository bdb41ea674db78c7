import type { Configuration } from 'openid-client'
import type { FeedLog } from '../../../background/feed-log.ts'
import { createReloadStatus } from '../../../background/reload-status.ts'
import { Fault } from '../../../kernel/errors.ts'
import type { IssuerKeySet } from '../../../token/issuers/issuer-key-set.ts'
import { createKeySchedule } from '../../../token/issuers/key-schedule.ts'
import { configurationOf, type Discovered, discover } from './discovery.ts'
import { exchangeFailure } from './exchange-failure.ts'
import type { IdentityProvider } from './identity-provider.ts'
import type { ProviderClient } from './settings.ts'

/** What operators see of a provider. Nothing of it is secret. */
interface ProviderState {
  readonly name: string
  readonly issuer: string
  /** Whether people can log in: its discovery document and keys are known. */
  readonly usable: boolean
  /** Whether the last fetch of them succeeded. */
  readonly reachable: boolean
  /** Since the last successful fetch; `null` before it. */
  readonly ageSeconds: number | null
  readonly lastError: string | undefined
}

export interface OpenProvider extends IdentityProvider {
  /** The address that ends the session at the provider; `undefined` if it has none. */
  endSessionUrl(parameters: Readonly<Record<string, string>>): Promise<string | undefined>
  /** The keys that sign logout tokens. Throws a Fault without any. */
  keys(): Promise<IssuerKeySet>
  /** Fetches keys that may be newer, within the bounds of the schedule. */
  refresh(): Promise<unknown>
  state(): ProviderState
  close(): void
}

/** The least time between two fetches, however many logins wait for them. */
const cooldownSeconds = 5
/** How long logins go on with what a provider published before it became unreachable. */
const maxAgeSeconds = 86_400

/**
 * Discovers a provider in the background, again and again. Neither waits nor fails: a gateway starts
 * while a provider is unreachable, and only its logins get 503.
 */
export function openProvider(options: ProviderClient, log: FeedLog): OpenProvider {
  const { name, issuer, timeoutMs, refreshSeconds } = options
  const status = createReloadStatus((reason) =>
    log.warn({ provider: name, reason }, 'identity provider could not be discovered'),
  )
  let wasFound = false
  const schedule = createKeySchedule<Discovered>({
    ...{ refreshSeconds, cooldownSeconds, waitMs: timeoutMs },
    maxKeyAgeSeconds: Math.max(maxAgeSeconds, 2 * refreshSeconds),
    fetch: (signal) => discover(options, signal),
    onFetched({ keys }) {
      status.loaded()
      const recovered = status.succeeded()
      const kids = keys.keys.map(({ kid }) => kid ?? null)
      if (recovered || !wasFound)
        log.info({ provider: name, issuer, kids }, 'identity provider discovered')
      wasFound = true
    },
    onFailed: status.failed,
  })

  async function discovered(): Promise<Discovered> {
    if (schedule.current() === undefined) await schedule.refresh()
    const found = schedule.current()
    if (found !== undefined) return found
    const why = schedule.failure() ?? `no answer within ${timeoutMs} ms`
    throw new Fault('identity-provider', { reason: `provider ${name} is not discovered: ${why}` })
  }

  async function configuration(): Promise<Configuration> {
    return configurationOf(options, await discovered())
  }

  return {
    async authorizationUrl({ redirectUri, state, nonce, challenge, asksAgain }) {
      const { buildAuthorizationUrl } = await import('openid-client')
      return buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: options.scopes.join(' '),
        ...{ state, nonce, code_challenge: challenge, code_challenge_method: 'S256' },
        ...(options.acrValues && { acr_values: options.acrValues.join(' ') }),
        ...(asksAgain && { prompt: 'login', max_age: '0' }),
      }).href
    },
    async exchange({ code, iss, redirectUri, state, nonce, verifier }) {
      const { authorizationCodeGrant } = await import('openid-client')
      const answer = new URL(redirectUri)
      answer.search = String(
        new URLSearchParams({ code, state, ...(iss !== undefined && { iss }) }),
      )
      const config = await configuration()
      const tokens = await authorizationCodeGrant(config, answer, {
        ...{ pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state },
        idTokenExpected: true,
      }).catch((error: unknown) => {
        throw exchangeFailure(name, error)
      })
      const claims = tokens.claims()
      if (claims === undefined || tokens.id_token === undefined) {
        throw new Fault('identity-provider', { reason: `provider ${name} sent no ID token` })
      }
      return { claims, idToken: tokens.id_token, accessToken: tokens.access_token }
    },
    async endSessionUrl(parameters) {
      const { metadata } = await discovered()
      if (metadata.end_session_endpoint === undefined) return undefined
      const { buildEndSessionUrl } = await import('openid-client')
      return buildEndSessionUrl(await configuration(), { ...parameters }).href
    },
    keys: async () => (await discovered()).keys,
    refresh: schedule.refresh,
    state() {
      const age = schedule.ageSeconds()
      return {
        ...{ name, issuer, usable: schedule.current() !== undefined },
        reachable: age !== undefined && schedule.failure() === undefined,
        ageSeconds: age === undefined ? null : Math.round(age),
        lastError: status.failure()?.text,
      }
    },
    close: schedule.close,
  }
}
