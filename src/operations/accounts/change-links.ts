import { loginProviders } from '../../config/login-providers.ts'
import type { Config } from '../../config/schema/schema.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { createLinkChanges } from '../../stores/identities/link-changes.ts'
import { linksOf } from '../../stores/identities/read-links.ts'
import { accountSettings, inDatabase, withDatabase } from '../configured-database.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { answerRevoked, tokensOf } from '../tokens/revoke-tokens.ts'
import { declineUser } from './accounts-named.ts'
import type * as described from './descriptions.ts'

export const userLink: RunOf<typeof described.userLink> = async (input, context) => {
  const { name, provider, subject } = input
  const settings = accountSettings(context.configFile, context)
  const issuer = input.issuer ?? issuerOf(provider, settings.config.login)
  for (const [field, text] of Object.entries({ subject, issuer })) {
    // A text that was cut to fit would also be that of another person.
    if (!/^[^\0]{1,255}$/s.test(text) || !text.isWellFormed()) {
      throw new InvalidInput(undefined, `--${field} must have 1 to 255 characters`)
    }
  }
  return withDatabase(settings, async (database) => {
    const changes = createLinkChanges(database, context.actor)
    const linked = await changes.link(name, { provider, issuer, subject })
    if (typeof linked === 'string') return declineAccount(linked, name, database)
    const whom = `subject ${JSON.stringify(subject)} of provider ${provider}`
    if ('holder' in linked) {
      const { holder } = linked
      if (holder === name) return decline(`user ${name} is already linked to ${whom}`)
      return decline(
        `${whom} is linked to user ${holder}: to move it, run "postern user unlink ${holder} --provider ${provider}" first`,
      )
    }
    return {
      document: { done: 'link', username: name, ...linked, provider, issuer, subject },
      notes: [`linked user ${name} to ${whom}`],
    }
  })
}

export const userUnlink: RunOf<typeof described.userUnlink> = ({ name, provider }, context) =>
  inDatabase(context, async (database, { config }) => {
    const unlinked = await createLinkChanges(database, context.actor).unlink(name, provider)
    if (unlinked === 'not-linked') return declineUnlinked(name, provider, database)
    if (typeof unlinked === 'string') return declineAccount(unlinked, name, database)
    const { userId } = unlinked
    const what = provider === undefined ? 'every link' : `the link to ${provider}`
    const stale = tokensOf(name, [userId], `removed ${what} of user ${name}`)
    const done = { done: 'unlink', username: name, userId }
    const answer = await answerRevoked(stale, { config, database }, done)
    const [account] = await createAccountDirectory(database).show(name)
    if (account?.hasPassword !== false) return answer
    const next = `user ${name} has no password; to set one, run "postern user passwd ${name}"`
    return { ...answer, notes: answer.notes.toSpliced(1, 0, next) }
  })

/** A link to a provider that does not exist would never be used. */
function issuerOf(provider: string, login: Config['login']): string {
  const { providers, hasModule } = loginProviders(login)
  const found = providers.find(({ name }) => name === provider)
  if (found !== undefined) return found.issuer
  if (hasModule) return provider
  const names = providers.map(({ name }) => name)
  const defined = names.length === 0 ? 'none' : names.join(', ')
  return decline(
    `provider ${JSON.stringify(provider)} is not configured (configured: ${defined})${didYouMean(provider, names)}`,
  )
}

function declineAccount(
  why: 'no-such-user' | 'service-account',
  name: string,
  database: Database,
): Promise<never> {
  if (why === 'no-such-user') return declineUser(name, database)
  return decline(`${name} is a service account: people cannot log in as it`)
}

async function declineUnlinked(
  name: string,
  provider: string | undefined,
  database: Database,
): Promise<never> {
  const [account] = await createAccountDirectory(database).show(name)
  const links = account === undefined ? [] : await linksOf(database, account.userId)
  const names = [...new Set(links.map((link) => link.provider))]
  if (names.length === 0 || provider === undefined) return decline(`user ${name} has no link`)
  return decline(
    `user ${name} has no link to ${JSON.stringify(provider)} (linked: ${names.join(', ')})${didYouMean(provider, names)}`,
  )
}
