import { type Config, LONGEST_TIMEOUT_SECONDS } from './schema/schema.ts'

const DEV = 'dev'
const KNOWN = [DEV, 'test', 'prod']

// The "roughly 100 years" of go-admin, which its clients already see in `expire`.
const DEV_LIFETIME_SECONDS = 876_010 * 3600

export type ModeFacts = ReturnType<typeof modeFacts>

/**
 * What `application.mode` means. Other code gets these facts, never the mode itself. Only the exact text `dev` relaxes anything; any other name, known or not, is treated as `prod`
 * (specification, Authentication 4).
 */
export function modeFacts(mode: string | undefined, timeoutSeconds: number) {
  const name = mode ?? 'prod'
  const dev = name === DEV
  const tokenLifetimeSeconds = dev ? DEV_LIFETIME_SECONDS : timeoutSeconds
  return {
    name,
    captchaRequired: !dev,
    tokenLifetimeSeconds,
    /** No token lasts longer, also none issued when `jwt.timeout` was longer than now. */
    longestLifetimeSeconds: Math.max(tokenLifetimeSeconds, LONGEST_TIMEOUT_SECONDS),
    /** Whether a token that lives longer than `longestLifetime` is rejected. */
    lifetimeLimited: !dev,
    weakSecretAllowed: dev,
    /** Whether cookies have the Secure attribute. */
    secureCookie: !dev,
    /** Whether the passwords of the first accounts are printed, if that is on a terminal. */
    passwordsPrinted: dev,
    /** Present for an unknown mode, which is probably a typing error. */
    ...(!KNOWN.includes(name) && {
      warning: `application.mode: unknown mode ${JSON.stringify(name)} is treated as prod`,
    }),
  }
}

/** The limits on the lifetime of tokens of ours, by kind; no `service`: service tokens are off. */
export function tokenLimits(
  mode: Pick<ModeFacts, 'lifetimeLimited'>,
  { jwt, tokens }: Pick<Config, 'jwt' | 'tokens'>,
) {
  const { enabled, maxLifetime } = tokens.service
  return {
    maxLifetimeSeconds: longestLifetime(mode, jwt),
    clockSkewSeconds: jwt.clockSkewSeconds,
    service: enabled ? { maxLifetimeSeconds: maxLifetime } : undefined,
  }
}

/** The longest accepted lifetime of a token, in seconds; `undefined`: unlimited. */
function longestLifetime(
  { lifetimeLimited }: Pick<ModeFacts, 'lifetimeLimited'>,
  jwt: Config['jwt'],
): number | undefined {
  return lifetimeLimited ? (jwt.maxLifetimeSeconds ?? jwt.timeout) : undefined
}
