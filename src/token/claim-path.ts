import { isRecord } from '../kernel/json.ts'

type Claims = Readonly<Record<string, unknown>>

/**
 * The claim with this name, or at this JSON pointer (RFC 6901) if the name starts with `/`. Names such
 * as `https://example.com/roles` are plain names. A pointer goes through objects only.
 */
export function claimAt(claims: Claims, name: string): unknown {
  if (!name.startsWith('/')) return member(claims, name)
  return name
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(member, claims)
}

/** Only own members: `constructor` is not a claim. */
function member(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}
