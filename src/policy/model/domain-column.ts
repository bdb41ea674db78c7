import type { DomainMatch, Model } from './model.ts'

/** Whether the domain column of a rule is about several domains. */
export function isDomainPattern(column: string, { rules }: DomainMatch): boolean {
  if (rules === 'any' || rules === 'every') return column === '*'
  return rules === 'prefix' && column.endsWith('*')
}

/** The domain column of a rule; rules without one count in every domain. */
export function domainColumn({ domain = '*' }: { readonly domain?: string }): string {
  return domain
}

/** Whether rules of the index grammar have a domain column. */
export function hasDomainColumn({ domain }: Model): boolean {
  return domain !== undefined && domain.rules !== 'every'
}
