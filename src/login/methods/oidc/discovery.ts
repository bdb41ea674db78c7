import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client'
import { Fault } from '../../../kernel/errors.ts'
import { keyUrlProblem } from '../../../kernel/key-url.ts'
import { readClientContext } from '../../../kernel/pem-files.ts'
import { otherIssuer, readBearer } from '../../../token/issuers/fetch-keys.ts'
import { type GetOptions, getBytes } from '../../../token/issuers/get-bytes.ts'
import { type IssuerKeySet, parseIssuerKeySet } from '../../../token/issuers/issuer-key-set.ts'
import { createProviderFetch } from './provider-fetch.ts'
import type { ProviderClient } from './settings.ts'

/** What a provider publishes about itself. */
export interface Discovered {
  readonly metadata: ServerMetadata
  readonly keys: IssuerKeySet
  /** The keys as the provider publishes them. */
  readonly jwks: { readonly keys: readonly object[] }
  readonly fetch: CustomFetch
}

/** Loaded when a provider is configured: gateways without one start as fast as before. */
const library = () => import('openid-client')

/** Fetches discovery document and keys. Rejects with a reason for the log. */
export async function discover(
  client: ProviderClient,
  signal: AbortSignal,
  onDate?: GetOptions['onDate'],
): Promise<Discovered> {
  const { issuer, clientId, caFile, timeoutMs, idTokenAlgorithm } = client
  const oidc = await library()
  const secureContext = caFile === undefined ? undefined : await readClientContext({ caFile })
  const fetch = createProviderFetch({ secureContext, timeoutMs })
  const found = await oidc
    .discovery(new URL(issuer), clientId, undefined, oidc.None(), {
      [oidc.customFetch]: (url, options) => {
        const signals = options.signal === undefined ? [signal] : [signal, options.signal]
        return fetch(url, { ...options, signal: AbortSignal.any(signals) })
      },
      timeout: timeoutMs / 1000,
      ...(isPlain(issuer) && { execute: [oidc.allowInsecureRequests] }),
    })
    .catch((error: unknown) => {
      throw withCause(error)
    })
  const { supportsPKCE: _, ...metadata } = found.serverMetadata()
  checkMetadata(metadata, client)
  const bytes = await getBytes(new URL(metadata.jwks_uri ?? ''), {
    ...{ secureContext, bearer: undefined, signal, timeoutMs, onDate },
  })
  const keys = await parseIssuerKeySet(bytes, [idTokenAlgorithm])
  return { metadata, keys, jwks: JSON.parse(bytes.toString()), fetch }
}

/** Errors of openid-client say "something went wrong"; the reason is their cause. */
function withCause(error: unknown): unknown {
  const { cause } = (error ?? {}) as { cause?: unknown }
  if (cause instanceof Error) return cause
  const { attribute, body } = (cause ?? {}) as { attribute?: string; body?: { issuer?: unknown } }
  return attribute === 'issuer' ? otherIssuer(body?.issuer) : error
}

function checkMetadata(metadata: ServerMetadata, { issuer, idTokenAlgorithm }: ProviderClient) {
  // Discovery 4.3. openid-client accepts another trailing slash, but links name the issuer exactly.
  if (metadata.issuer !== issuer) throw otherIssuer(metadata.issuer)
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    const url = metadata[name]
    if (typeof url !== 'string') throw new Error(`the discovery document has no ${name}`)
    const problem = keyUrlProblem(url)
    if (problem !== undefined) throw new Error(`${name} of the discovery document ${problem}`)
    if (!isPlain(issuer) && isPlain(url)) {
      throw new Error(`${name} of the discovery document must use https://`)
    }
  }
  const algorithms = metadata.id_token_signing_alg_values_supported
  if (algorithms !== undefined && !algorithms.includes(idTokenAlgorithm)) {
    const offered = algorithms.join(', ')
    throw new Error(
      `the provider does not sign with ${idTokenAlgorithm}, but ${offered}: set idTokenAlgorithm`,
    )
  }
}

function isPlain(url: string): boolean {
  return url.startsWith('http:')
}

/** openid-client fetches keys again for an unknown `kid` only when those it has are this old. */
const refetchAgeSeconds = 61

/**
 * A configuration of openid-client for one login. It knows the published keys, and fetches them again at
 * once when the provider has signed with a newer one: a code cannot be exchanged a second time.
 */
export async function configurationOf(
  client: ProviderClient,
  { metadata, jwks, fetch }: Discovered,
): Promise<Configuration> {
  const oidc = await library()
  const secret = await clientSecret(client)
  const auth = {
    basic: () => oidc.ClientSecretBasic(secret),
    post: () => oidc.ClientSecretPost(secret),
    none: () => oidc.None(),
  }
  const { clientId, clientAuth, idTokenAlgorithm, issuer, timeoutMs } = client
  const configuration = new oidc.Configuration(
    { ...metadata },
    clientId,
    { id_token_signed_response_alg: idTokenAlgorithm },
    auth[clientAuth](),
  )
  // Without it, openid-client accepts an ID token with any signature.
  oidc.enableNonRepudiationChecks(configuration)
  if (isPlain(issuer)) oidc.allowInsecureRequests(configuration)
  configuration[oidc.customFetch] = fetch
  configuration.timeout = timeoutMs / 1000
  const uat = Math.floor(Date.now() / 1000) - refetchAgeSeconds
  oidc.setJwksCache(configuration, { jwks: structuredClone(jwks) as never, uat })
  return configuration
}

/** Read each time: deployments replace the file. */
async function clientSecret(client: ProviderClient): Promise<string | undefined> {
  const { clientSecretFile: file, name } = client
  if (file === undefined) return client.clientSecret
  return readBearer(file).catch((cause: unknown) => {
    const reason = `clientSecretFile of ${name}: ${cause instanceof Error ? cause.message : 'unreadable'}`
    throw new Fault('identity-provider', { reason, cause })
  })
}
