import { loginProviders } from '../../config/login-providers.ts'
import type { Config } from '../../config/schema/schema.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { decline } from '../../operations/declined.ts'
import { revocationProblem } from '../../operations/tokens/revoke-tokens.ts'
import { noSuchUser } from '../../operations/unknown-name.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { createLinkChanges } from '../../stores/identities/link-changes.ts'
import { linksOf } from '../../stores/identities/read-links.ts'
import { type Run, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import { operator } from '../operator.ts'
import type { linkSpec, unlinkSpec } from './specs.ts'

export const userLink: Run<typeof linkSpec> = async ({ arguments: [name], options }, io) => {
  const { provider, subject } = options
  const settings = accountSettings(options.config, io)
  const issuer = options.issuer ?? issuerOf(provider, settings.config.login)
  for (const [option, text] of [
    ['--subject', subject],
    ['--issuer', issuer],
  ] as const) {
    // A text that was cut to fit would also be that of another person.
    if (!/^[^\0]{1,255}$/s.test(text) || !text.isWellFormed()) {
      throw new UsageError(`${option} must have 1 to 255 characters`)
    }
  }
  return withDatabase(settings, async (database) => {
    const changes = createLinkChanges(database, operator(io))
    const linked = await changes.link(name, { provider, issuer, subject })
    if (typeof linked === 'string') return declineUser(linked, name, database)
    const whom = `subject ${JSON.stringify(subject)} of provider ${provider}`
    if ('holder' in linked) {
      const holder = linked.holder
      if (holder === name) decline(`user ${name} is already linked to ${whom}`)
      decline(
        `${whom} is linked to user ${holder}: to move it, run "postern user unlink ${holder} --provider ${provider}" first`,
      )
    }
    io.err(`${printable(`postern: linked user ${name} to ${whom}`)}\n`)
    if (options.output === 'json') {
      io.out(json({ done: 'link', username: name, ...linked, provider, issuer, subject }))
    }
    return 0
  })
}

export const userUnlink: Run<typeof unlinkSpec> = async ({ arguments: [name], options }, io) => {
  const { provider, output } = options
  const settings = accountSettings(options.config, io)
  return withDatabase(settings, async (database) => {
    const unlinked = await createLinkChanges(database, operator(io)).unlink(name, provider)
    if (unlinked === 'not-linked') return declineUnlinked(name, provider, database)
    if (typeof unlinked === 'string') return declineUser(unlinked, name, database)
    const { userId } = unlinked
    const problem = await revocationProblem([userId], settings.config, database)
    const tokensEnded = problem === undefined
    const what = provider === undefined ? 'every link' : `the link to ${provider}`
    const revoked = tokensEnded ? '; revoked all tokens issued until now' : ''
    io.err(`${printable(`postern: removed ${what} of user ${name}${revoked}`)}\n`)
    const [account] = await createAccountDirectory(database).show(name)
    if (account?.hasPassword === false) {
      const next = `to set one, run "postern user passwd ${name}"`
      io.err(`${printable(`postern: user ${name} has no password; ${next}`)}\n`)
    }
    if (output === 'json') io.out(json({ done: 'unlink', username: name, userId, tokensEnded }))
    if (tokensEnded) return 0
    const next = `once that is fixed, run "postern token revoke --user ${userId}"`
    const still = `postern: the tokens of ${name} are still valid: ${problem}; ${next}`
    io.err(`${printable(still)}\n`)
    return exitCodes.unavailable
  })
}

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

async function declineUser(
  why: 'no-such-user' | 'service-account',
  name: string,
  database: Database,
): Promise<never> {
  if (why === 'service-account') {
    return decline(`${name} is a service account: people cannot log in as it`)
  }
  const accounts = await createAccountDirectory(database).list()
  return decline(
    noSuchUser(
      name,
      accounts.map(({ username }) => username),
    ),
  )
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
