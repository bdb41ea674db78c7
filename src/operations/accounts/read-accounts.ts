import { dataScopeName } from '../../kernel/data-scope.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { foldedName } from '../../login/folded-name.ts'
import { keyName } from '../../login/second-factor/sealed-secret.ts'
import {
  type AccountDetails,
  createAccountDirectory,
} from '../../stores/accounts/account-directory.ts'
import { linksOf } from '../../stores/identities/read-links.ts'
import {
  type EnrolledAccount,
  enrolledAccounts,
} from '../../stores/second-factor/enrollment-directory.ts'
import { liveSessions } from '../../stores/sessions/session-store.ts'
import { accountSettings, inDatabase, withDatabase } from '../configured-database.ts'
import { type OpenLockout, withLockouts } from '../logins/open-lockouts.ts'
import type { RunOf } from '../operation.ts'
import { rfc3339 } from '../rfc3339.ts'
import { withSessions } from '../sessions/open-sessions.ts'
import { accountsNamed } from './accounts-named.ts'
import type * as described from './descriptions.ts'

/** Lists the accounts. IDs are text, so that they are exact. */
export const userList: RunOf<typeof described.userList> = (
  { 'starts-with': startsWith, limit },
  context,
) =>
  inDatabase(context, async (database) => ({
    document: await createAccountDirectory(database).list({ startsWith, limit }),
  }))

/** Shows the account that login would choose, and which others have the same name. */
export const userShow: RunOf<typeof described.userShow> = ({ name }, context) => {
  const settings = accountSettings(context.configFile, context)
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
      withLockouts(context.configFile, context, async ({ open }) => open.filter(isOf(account))),
    )
    const [enrolled] = await enrolledAccounts(database, account.userId)
    const { roles } = settings.config.login.secondFactor
    return {
      document: {
        ...account,
        dataScopeName: dataScopeName(account.dataScope) ?? null,
        links: await linksOf(database, account.userId),
        oneTimeCodes: codesOf(enrolled),
        lockouts: lockouts?.map(toJson) ?? null,
        sessions: sessions ?? null,
        sameName: others.map(({ userId }) => userId),
      },
      notes:
        enrolled === undefined && roles.includes(account.roleKey)
          ? ['the role needs them: login refuses this account']
          : [],
    }
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

/** Without the secret. */
function codesOf(enrolled: EnrolledAccount | undefined) {
  if (enrolled === undefined) return null
  const { enrolledAt, keyId, recoveryCodesLeft, failures } = enrolled
  return { enrolledAt, key: keyName(keyId), recoveryCodesLeft, failures }
}

function toJson({ kind, block, sinceMs, untilMs, attempts }: OpenLockout) {
  const address = block === undefined ? {} : { address: block }
  return { kind, ...address, since: rfc3339(sinceMs), until: rfc3339(untilMs), attempts }
}
