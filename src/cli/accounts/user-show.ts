import { dataScopeInWords, dataScopeName } from '../../data-scope.ts'
import { Fault, Invalid } from '../../errors.ts'
import { foldedName } from '../../login/folded-name.ts'
import { accountsNamed } from '../../operations/accounts/accounts-named.ts'
import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { type OpenLockout, withLockouts } from '../../operations/logins/open-lockouts.ts'
import { withSessions } from '../../operations/sessions/open-sessions.ts'
import type { AccountDetails } from '../../stores/accounts/account-directory.ts'
import { type AccountLink, linksOf } from '../../stores/identities/read-links.ts'
import { enrolledAccounts } from '../../stores/second-factor/enrollment-directory.ts'
import { liveSessions } from '../../stores/sessions/live-sessions.ts'
import type { Run } from '../command.ts'
import { formatTable, json } from '../format.ts'
import { codesAsJson, codesInWords } from './one-time-codes.ts'
import type { showSpec } from './specs.ts'
import { statusInWords } from './user-list.ts'

/** Shows the account that login would choose, and which others have the same name. */
export const userShow: Run<typeof showSpec> = async ({ arguments: [name], options }, io) => {
  const settings = accountSettings(options.config, io)
  return withDatabase(settings, async (database) => {
    const [account, ...others] = await accountsNamed(name, database)
    const sessions = await ifKnown(() =>
      withSessions(
        settings,
        (_, work) => work(database),
        async (opened) =>
          (await liveSessions(opened.sessions, opened.revocations, account.userId)).length,
      ),
    )
    const lockouts = await ifKnown(() =>
      withLockouts(options.config, io, async ({ open }) => open.filter(isOf(account))),
    )
    const [enrolled] = await enrolledAccounts(database, account.userId)
    const links = await linksOf(database, account.userId)
    const sameName = others.map(({ userId }) => userId)
    if (options.output === 'json') {
      const known = { lockouts: lockouts?.map(toJson) ?? null, sessions: sessions ?? null }
      const oneTimeCodes = codesAsJson(enrolled)
      const scope = { dataScopeName: dataScopeName(account.dataScope) ?? null }
      io.out(json({ ...account, ...scope, links, oneTimeCodes, ...known, sameName }))
      return 0
    }
    const twins = sameName.map((id) => ['same name', `user with ID ${id}`])
    const isNeeded = settings.config.login.secondFactor.roles.includes(account.roleKey)
    const codes = ['one-time codes', codesInWords(enrolled, isNeeded)]
    io.out(formatTable([...rows(account, lockouts, sessions), codes, ...linkRows(links), ...twins]))
    return 0
  })
}

/** `undefined` where the store or the keys cannot be read: the account itself is known all the same. */
async function ifKnown<Result>(ask: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Fault || error instanceof Invalid) return undefined
    throw error
  }
}

function isOf({ username }: AccountDetails): (lockout: OpenLockout) => boolean {
  return ({ name }) => name !== undefined && foldedName(name) === foldedName(username)
}

function rows(
  account: AccountDetails,
  lockouts: readonly OpenLockout[] | undefined,
  sessions: number | undefined,
): readonly (readonly string[])[] {
  const { userId, username, kind, roleKey, roleName, dataScope, createdAt, updatedAt } = account
  return [
    ['id', userId],
    ['name', username],
    ['kind', kind],
    ['role', roleKey === '' ? 'none: login refuses this account' : `${roleKey} (${roleName})`],
    ['data scope', dataScopeInWords(dataScope)],
    ['status', statusInWords(account)],
    ...(kind === 'user' && !account.hasPassword ? [['password', 'none here']] : []),
    ...lockoutRows(lockouts).map((text) => ['locked out', text]),
    ['sessions', sessions === undefined ? 'unknown' : `${sessions}`],
    ['created', createdAt ?? 'unknown'],
    ['updated', updatedAt ?? 'unknown'],
  ]
}

function linkRows(links: readonly AccountLink[]): readonly (readonly string[])[] {
  return links.map(({ provider, subject, seenAt }) => {
    const seen = seenAt === null ? 'no login yet' : `last login about ${seenAt}`
    return ['linked to', `${provider}, subject ${subject}, ${seen}`]
  })
}

/** An attack locks an account out at thousands of addresses. */
const shownLockouts = 10

function lockoutRows(lockouts: readonly OpenLockout[] | undefined): readonly string[] {
  if (lockouts === undefined) return ['unknown']
  if (lockouts.length === 0) return ['no']
  const shown = lockouts.slice(0, shownLockouts).map(({ block, untilMs }) => {
    const from = block === undefined ? '' : `logins from ${block}, `
    return `${from}until ${rfc3339(untilMs)}`
  })
  const more = lockouts.length - shown.length
  return more === 0 ? shown : [...shown, `and ${more} more: see "postern login locks"`]
}

function toJson({ kind, block, sinceMs, untilMs, attempts }: OpenLockout) {
  const address = block === undefined ? {} : { address: block }
  return { kind, ...address, since: rfc3339(sinceMs), until: rfc3339(untilMs), attempts }
}

function rfc3339(ms: number): string {
  return new Date(ms).toISOString()
}
