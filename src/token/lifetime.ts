import type { OwnKind } from './claims.ts'

/** When a token was issued, in milliseconds, and when it expires, in seconds. */
interface Times {
  /** 0 when the token does not say. */
  readonly issuedAt: number
  readonly expiresAt: number
}

interface LifetimeLimit {
  /** The longest lifetime that is accepted. Unset: any. */
  readonly maxLifetimeSeconds: number | undefined
  /** How far the clock of an issuer may be ahead of ours. */
  readonly clockSkewSeconds: number
}

/** The limits by the kind of a token. */
export interface LifetimeLimits extends LifetimeLimit {
  /** For service tokens. Unset: they are refused. */
  readonly service?: { readonly maxLifetimeSeconds: number } | undefined
}

/** The limit for a token of ours: service tokens outlive a login, but have a limit in every mode. */
export function limitFor(kind: OwnKind, limits: LifetimeLimits): LifetimeLimit {
  if (kind === 'user') return limits
  const { clockSkewSeconds, service } = limits
  return { maxLifetimeSeconds: service?.maxLifetimeSeconds ?? 0, clockSkewSeconds }
}

/**
 * The lifetime of a token in seconds, if it is longer than accepted: a token of mode dev, or one
 * whose `exp` is in milliseconds. Without an issue time only what is left of it is known; an issuer
 * cannot hide a long lifetime behind a late issue time, because one in the future is rejected.
 */
export function excessiveLifetime(
  { issuedAt, expiresAt }: Times,
  { maxLifetimeSeconds, clockSkewSeconds }: LifetimeLimit,
  now: number,
): number | undefined {
  if (maxLifetimeSeconds === undefined) return undefined
  const from = issuedAt === 0 ? now : issuedAt / 1000
  const lifetime = Math.floor(expiresAt) - Math.floor(from)
  return lifetime > maxLifetimeSeconds + clockSkewSeconds ? lifetime : undefined
}
