import { secretWeakness } from '../config/checks/secret-strength.ts'
import { carriedClaims } from '../config/identity-headers.ts'
import { configuredIssuers } from '../config/issuers.ts'
import { type ModeFacts, tokenLimits } from '../config/mode.ts'
import type { Config } from '../config/schema/schema.ts'
import { Invalid } from '../kernel/errors.ts'
import { type OpenKeys, openKeys } from '../stores/keys/key-feed.ts'
import { addIssuerMetrics, addKeyMetrics } from '../stores/keys/key-metrics.ts'
import { sharedSecret } from '../stores/keys/shared-secret.ts'
import { assertionSigner } from '../token/assertions.ts'
import { type ClaimPicker, createClaimPicker } from '../token/carried-claims.ts'
import { createIssuerTokens } from '../token/issuers/issuer-tokens.ts'
import { openIssuers } from '../token/issuers/open-issuers.ts'
import { createRevocations } from '../token/revocations.ts'
import { createTokens, type Tokens } from '../token/tokens.ts'
import type { Assembly } from './assembly.ts'
import { clock, type ServeOptions } from './options.ts'
import { keyFacts } from './own-facts.ts'

/** Keys, tokens, and the revocation list that tokens are checked against. */
export async function buildTokens(options: ServeOptions, mode: ModeFacts, assembly: Assembly) {
  const { config, log, now = clock } = options
  const keys = await openConfiguredKeys(options, mode.weakSecretAllowed)
  assembly.add({
    metrics: (registry) => addKeyMetrics(registry, keys.state),
    details: { keys: keys.state, serviceTokens: () => config.tokens.service },
    facts: () => ({ keys: keyFacts(keys.state()) }),
    close: keys.close,
  })
  const assertionProblem = () => findAssertionProblem(config, keys)
  const problem = assertionProblem()
  if (problem !== undefined) throw new Invalid([{ file: 'jwt.keyDirectory', message: problem }])
  assembly.add({ checks: [{ name: 'assertion', problem: assertionProblem }] })
  const revocations = createRevocations(() => now() * 1000)
  const issuers = openIssuers(configuredIssuers(config.issuers), log)
  assembly.add({
    ...(config.issuers.length > 0 && {
      metrics: (registry) => addIssuerMetrics(registry, issuers.states),
      details: { issuers: issuers.states },
    }),
    close: issuers.close,
  })
  const claims = openClaims(options, assembly)
  const { clockSkewSeconds } = config.jwt
  const domainClaim = config.policy.domain?.claim
  const tokens = createConfiguredTokens(options, mode, {
    ...{ keys: keys.current, revocations },
    ...(config.issuers.length > 0 && {
      foreign: createIssuerTokens({ ...issuers, clockSkewSeconds, domainClaim, claims, now }),
    }),
  })
  return { keys, tokens, revocations, claims }
}

/** Issues and verifies tokens as the configuration says. Without `foreign`, all are of our own keys. */
export function createConfiguredTokens(
  { config, now = clock }: Pick<ServeOptions, 'config' | 'now'>,
  mode: ModeFacts,
  parts: Pick<Parameters<typeof createTokens>[0], 'keys' | 'revocations' | 'foreign'>,
): Tokens {
  return createTokens({
    ...parts,
    lifetimeSeconds: mode.tokenLifetimeSeconds,
    ...tokenLimits(mode, config),
    maxTokenBytes: config.jwt.maxTokenBytes,
    domainClaim: config.policy.domain?.claim,
    now,
  })
}

/** The keys that sign and verify what this process issues. */
export async function openConfiguredKeys(
  { config, log }: Pick<ServeOptions, 'config' | 'log'>,
  weakAllowed: boolean,
): Promise<OpenKeys> {
  const { dataDirectory } = config.application
  const secret = await sharedSecret(config.jwt, { dataDirectory, weakAllowed })
  return openKeys({ directory: config.jwt.keyDirectory, secret, secretWeakness, log })
}

/** Upstreams that expect an assertion refuse every call without one. */
function findAssertionProblem({ identity }: Config, keys: OpenKeys): string | undefined {
  if (!identity.assertion.enabled || assertionSigner(keys.current()) !== undefined) return undefined
  return 'identity.assertion requires one private key that is not a shared secret, or one named to sign'
}

/** The claims that services learn; tokens that are issued or verified from a reload on have the new ones. */
function openClaims({ config, log }: ServeOptions, assembly: Assembly): ClaimPicker {
  const settingsOf = (active: Config) => {
    return { names: carriedClaims(active), maxBytes: active.headers.claimBytes }
  }
  let settings = settingsOf(config)
  assembly.add({
    apply(next) {
      settings = settingsOf(next)
    },
  })
  const count = assembly.registry.counter({
    name: 'postern_claims_left_out_total',
    help: 'Claims that did not fit into headers.claimBytes, so that services do not learn them.',
    labels: ['claim'],
    fromZero: settings.names.map((name) => [name]),
  })
  return createClaimPicker(
    () => settings,
    (leftOut) => {
      count(leftOut.claim)
      log.warn({ ...leftOut, limit: settings.maxBytes }, 'claim left out: over headers.claimBytes')
    },
  )
}
