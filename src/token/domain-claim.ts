import { claimAt } from './claim-path.ts'

/**
 * Casbin's domain of a token, by the claim that the configuration names. Only a text is one: a list
 * could be compared with several domains, and an empty text with none. A token without a domain stays
 * valid, for routes that need no permission.
 */
export function domainIn(
  claims: Readonly<Record<string, unknown>>,
  name: string | undefined,
): { readonly domain?: string } {
  const value = name === undefined ? undefined : claimAt(claims, name)
  if (typeof value !== 'string' || value.length === 0 || value.length > maxLength) return {}
  // In a log, two texts that differ only in these look the same.
  return value.isWellFormed() && !/\p{C}/u.test(value) ? { domain: value } : {}
}

const maxLength = 255
