const DEV = 'dev'
const KNOWN = [DEV, 'test', 'prod']

// go-admin's figure for "roughly 100 years", which its clients already see in `expire`.
const DEV_LIFETIME_SECONDS = 876_010 * 3600

/** What `application.mode` means. Whoever needs a fact gets the fact, never the mode. */
export interface ModeFacts {
  readonly name: string
  readonly captchaRequired: boolean
  readonly tokenLifetimeSeconds: number
  /** Whether a token that lives longer than `longestLifetime` is rejected. */
  readonly lifetimeLimited: boolean
  readonly weakSecretAllowed: boolean
  /** Whether cookies are for encrypted connections only. */
  readonly secureCookie: boolean
  /** Present when the name is none that anybody is likely to have meant. */
  readonly warning?: string
}

/**
 * The facts that follow from the mode. Only the exact text `dev` loosens anything; any other
 * name, known or not, is treated as `prod`. Specification, Authentication 4.
 */
export function modeFacts(mode: string | undefined, timeoutSeconds: number): ModeFacts {
  const name = mode ?? 'prod'
  const dev = name === DEV
  const facts = {
    name,
    captchaRequired: !dev,
    tokenLifetimeSeconds: dev ? DEV_LIFETIME_SECONDS : timeoutSeconds,
    lifetimeLimited: !dev,
    weakSecretAllowed: dev,
    secureCookie: !dev,
  }

  if (KNOWN.includes(name)) return facts
  return { ...facts, warning: `application.mode ${JSON.stringify(name)} is treated as prod` }
}

/** The longest lifetime of a token that is accepted, in seconds; `undefined` when any is. */
export function longestLifetime(
  { lifetimeLimited }: Pick<ModeFacts, 'lifetimeLimited'>,
  jwt: { readonly timeout: number; readonly maxLifetimeSeconds?: number },
): number | undefined {
  return lifetimeLimited ? (jwt.maxLifetimeSeconds ?? jwt.timeout) : undefined
}
