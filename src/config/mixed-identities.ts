import type { Config } from './schema/schema.ts'

/**
 * Why services could take a user of ours for one of theirs: they verify our tokens with the same
 * secret, and their users have the same numbers. User 1 is go-admin's administrator.
 */
export function mixedIdentities({ database, jwt, routes }: Config): string | undefined {
  if (database.url !== undefined || jwt.secret === undefined) return undefined
  const index = routes.findIndex(({ forwardCredentials }) => forwardCredentials)
  if (index === -1) return undefined
  return `routes[${index}].forwardCredentials sends tokens of accounts in our own database to a service that shares jwt.secret: to go-admin, user 1 is its administrator; set database.url to the database of that service, or remove forwardCredentials`
}
