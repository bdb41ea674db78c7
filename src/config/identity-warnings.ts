import type { Config } from './schema/schema.ts'

/** Why one token could be taken for another. */
export function identityWarnings(config: Config): readonly string[] {
  const mixed = mixedIdentities(config)
  return [...(mixed === undefined ? [] : [mixed]), ...sharedAudiences(config)]
}

/** ID tokens have the client as audience: then only their claims tell them from access tokens. */
function sharedAudiences({ issuers, login }: Config): readonly string[] {
  return issuers.flatMap(({ issuer, audience }, index) => {
    const at = login.oidc.findIndex(
      (one) => one.issuer === issuer && [audience].flat().includes(one.clientId),
    )
    if (at === -1) return []
    const clientId = JSON.stringify(login.oidc[at]?.clientId)
    return [
      `issuers[${index}].audience: ${clientId} is also login.oidc[${at}].clientId, so ID tokens of that login have the audience of access tokens; give access tokens an audience of their own, such as the name of your API`,
    ]
  })
}

/**
 * Why services could take a user of ours for one of theirs: they verify our tokens with the same
 * secret, and their users have the same numbers. User 1 is go-admin's administrator.
 */
function mixedIdentities({ database, jwt, routes }: Config): string | undefined {
  if (database.url !== undefined || jwt.secret === undefined) return undefined
  const index = routes.findIndex(({ forwardCredentials }) => forwardCredentials)
  if (index === -1) return undefined
  return `routes[${index}].forwardCredentials sends tokens of accounts in our own database to a service that shares jwt.secret: to go-admin, user 1 is its administrator; set database.url to the database of that service, or remove forwardCredentials`
}
