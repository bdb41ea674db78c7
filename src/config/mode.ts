import { LONGEST_TIMEOUT_SECONDS } from './schema/schema.ts'

const DEV = 'dev'
const KNOWN = [DEV, 'test', 'prod']

// The "roughly 100 years" of go-admin, which its clients already see in `expire`.
const DEV_LIFETIME_SECONDS = 876_010 * 3600

/** What `application.mode` means. Other code gets these facts, never the mode itself. */
export interface ModeFacts {
  readonly name: string
  readonly captchaRequired: boolean
  readonly tokenLifetimeSeconds: number
  /** No token lasts longer, also none issued when `jwt.timeout` was longer than now. */
  readonly longestLifetimeSeconds: number
  /** Whether a token that lives longer than `longestLifetime` is rejected. */
  readonly lifetimeLimited: boolean
  readonly weakSecretAllowed: boolean
  /** Whether cookies have the Secure attribute. */
  readonly secureCookie: boolean
  /** Whether the passwords of the first accounts are printed, if that is on a terminal. */
  readonly passwordsPrinted: boolean
  /** Present for an unknown mode, which is probably a typing error. */
  readonly warning?: string
}

/**
 * Only the exact text `dev` relaxes anything; any other name, known or not, is treated as `prod`
 * (specification, Authentication 4).
 */
export function modeFacts(mode: string | undefined, timeoutSeconds: number): ModeFacts {
  const name = mode ?? 'prod'
  const dev = name === DEV
  const tokenLifetimeSeconds = dev ? DEV_LIFETIME_SECONDS : timeoutSeconds
  const facts = {
    name,
    captchaRequired: !dev,
    tokenLifetimeSeconds,
    longestLifetimeSeconds: Math.max(tokenLifetimeSeconds, LONGEST_TIMEOUT_SECONDS),
    lifetimeLimited: !dev,
    weakSecretAllowed: dev,
    secureCookie: !dev,
    passwordsPrinted: dev,
  }

  if (KNOWN.includes(name)) return facts
  return {
    ...facts,
    warning: `application.mode: unknown mode ${JSON.stringify(name)} is treated as prod`,
  }
}

/** The limits on the lifetime of tokens of ours, by kind; no `service`: service tokens are off. */
export function tokenLimits(
  mode: Pick<ModeFacts, 'lifetimeLimited'>,
  { jwt, tokens }: TokenConfig,
) {
  const { enabled, maxLifetime } = tokens.service
  return {
    maxLifetimeSeconds: longestLifetime(mode, jwt),
    clockSkewSeconds: jwt.clockSkewSeconds,
    service: enabled ? { maxLifetimeSeconds: maxLifetime } : undefined,
  }
}

interface TokenConfig {
  readonly jwt: {
    readonly timeout: number
    readonly maxLifetimeSeconds?: number
    readonly clockSkewSeconds: number
  }
  readonly tokens: { readonly service: { readonly enabled: boolean; readonly maxLifetime: number } }
}

/** The longest accepted lifetime of a token, in seconds; `undefined`: unlimited. */
function longestLifetime(
  { lifetimeLimited }: Pick<ModeFacts, 'lifetimeLimited'>,
  jwt: TokenConfig['jwt'],
): number | undefined {
  return lifetimeLimited ? (jwt.maxLifetimeSeconds ?? jwt.timeout) : undefined
}
