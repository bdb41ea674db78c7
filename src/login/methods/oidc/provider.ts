import type { Configuration } from 'openid-client'
import type { FeedLog } from '../../../background/feed-log.ts'
import { createReloadStatus } from '../../../background/reload-status.ts'
import { Fault } from '../../../kernel/errors.ts'
import { createKeySchedule } from '../../../token/issuers/key-schedule.ts'
import type { OidcPrompt } from '../../redirect-login.ts'
import { configurationOf, type Discovered, discover } from './discovery.ts'
import { exchangeFailure } from './exchange-failure.ts'
import type { ProviderClient } from './settings.ts'

/** What the browser carries to the provider. */
interface AuthorizationRequest {
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  /** SHA-256 of the PKCE verifier (RFC 7636 4.2). */
  readonly challenge: string
  /** Whether the provider must ask for credentials again (Core 3.1.2.1, `prompt` and `max_age`). */
  readonly asksAgain: boolean
  readonly prompt: OidcPrompt | undefined
}

/** What the browser brought back, and what it must fit. */
interface AuthorizationAnswer
  extends Omit<AuthorizationRequest, 'challenge' | 'asksAgain' | 'prompt'> {
  readonly code: string
  /** The issuer that the answer names (RFC 9207). */
  readonly iss: string | undefined
  readonly verifier: string
}

/** An ID token whose signature, issuer, audience, nonce and expiry are verified. */
export interface ConfirmedLogin {
  readonly claims: Readonly<Record<string, unknown>>
  readonly idToken: string
  readonly accessToken: string
}

export type OpenProvider = ReturnType<typeof openProvider>

/** The least time between two fetches, however many logins wait for them. */
const cooldownSeconds = 5
/** How long logins go on with what a provider published before it became unreachable. */
const maxAgeSeconds = 86_400

/**
 * Discovers an OpenID Connect provider in the background, again and again. Neither waits nor fails: a
 * gateway starts while a provider is unreachable, and only its logins get 503, by a Fault of a method.
 */
export function openProvider(options: ProviderClient, log: FeedLog) {
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
    async authorizationUrl(request: AuthorizationRequest) {
      const { redirectUri, state, nonce, challenge, asksAgain } = request
      const prompts = [options.prompt, request.prompt, asksAgain ? 'login' : undefined]
      const prompt = [...new Set(prompts.filter((one) => one !== undefined))].join(' ')
      const { buildAuthorizationUrl } = await import('openid-client')
      return buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: options.scopes.join(' '),
        ...{ state, nonce, code_challenge: challenge, code_challenge_method: 'S256' },
        ...(options.acrValues && { acr_values: options.acrValues.join(' ') }),
        ...(prompt !== '' && { prompt }),
        ...(asksAgain && { max_age: '0' }),
      }).href
    },
    /** Throws the Refusal `provider-refused` for a code or an ID token that is not valid. */
    async exchange(brought: AuthorizationAnswer): Promise<ConfirmedLogin> {
      const { code, iss, redirectUri, state, nonce, verifier } = brought
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
    /** The address that ends the session at the provider; `undefined` if it has none. */
    async endSessionUrl(parameters: Readonly<Record<string, string>>) {
      const { metadata } = await discovered()
      if (metadata.end_session_endpoint === undefined) return undefined
      const { buildEndSessionUrl } = await import('openid-client')
      return buildEndSessionUrl(await configuration(), { ...parameters }).href
    },
    /** The keys that sign logout tokens. Throws a Fault without any. */
    keys: async () => (await discovered()).keys,
    /** Fetches keys that may be newer, within the bounds of the schedule. */
    refresh: schedule.refresh,
    /** What operators see of a provider. Nothing of it is secret. */
    state() {
      const age = schedule.ageSeconds()
      return {
        /** Usable: people can log in, because its discovery document and keys are known. */
        ...{ name, issuer, usable: schedule.current() !== undefined },
        /** Whether the last fetch of them succeeded. */
        reachable: age !== undefined && schedule.failure() === undefined,
        /** Since the last successful fetch; `null` before it. */
        ageSeconds: age === undefined ? null : Math.round(age),
        lastError: status.failure()?.text,
      }
    },
    close: schedule.close,
  }
}
