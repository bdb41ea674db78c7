import { modeFacts } from '../../config/mode.ts'
import { count } from '../../kernel/count.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { revokeRecorded } from '../../stores/revocations/recorded-revocation.ts'
import type { Session } from '../../stores/sessions/session-store.ts'
import { liveSessions } from '../../stores/sessions/session-store.ts'
import type { Revocation } from '../../token/revocations.ts'
import { everyUser, userRevocation } from '../../token/user-marks.ts'
import { protectedAccounts } from '../accounts/protected-accounts.ts'
import { accountSettings, withDatabase } from '../configured-database.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { ReviewOf } from '../operation.ts'
import { usersNamed } from '../tokens/revoke-tokens.ts'
import { noSuchUser } from '../unknown-name.ts'
import type { sessionEnd } from './descriptions.ts'
import { withSessions } from './open-sessions.ts'

/** What the operation ends. */
interface Ending {
  readonly users: readonly string[] | 'all'
  readonly revocations: readonly Revocation[]
  /** The records that go. */
  readonly sessions: readonly Session[]
  readonly subject: string
  /** What the audit log and the document say. */
  readonly after: {
    readonly session?: string
    readonly address?: string
    readonly users?: readonly string[] | 'all'
  }
  readonly message: string
}

/** Ends sessions on every gateway. Ending all of them asks first. */
export const review: ReviewOf<typeof sessionEnd> = async ({ id, user, all, yes }, context) => {
  if (user !== undefined && all) {
    throw new InvalidInput(undefined, '--user and --all cannot be combined')
  }
  const settings = accountSettings(context.configFile, context)
  const { application, jwt } = settings.config
  const mode = modeFacts(application.mode, jwt.timeout)
  const isSure = !all || yes
  // Closed before asking: an open connection could block others while a person thinks.
  const seen = isSure
    ? []
    : await withSessions(settings, withDatabase, ({ sessions, revocations }) =>
        liveSessions(sessions, revocations),
      )
  const users = new Set(seen.map(({ userId }) => userId)).size

  const commit = () =>
    withDatabase(settings, (database) =>
      withSessions(
        settings,
        async (_, work) => work(database),
        async ({ sessions, ...opened }) => {
          const live = await liveSessions(sessions, opened.revocations)
          const ending =
            id !== undefined
              ? endOne(id, live)
              : user !== undefined
                ? await endUser(user, { live, database, mode })
                : endAll(live, mode)
          const { refuse } = await protectedAccounts(database, context)
          refuse(ending.users)
          const { subject, after } = ending
          const change = { actor: context.actor, action: 'session.end', subject, after } as const
          await revokeRecorded(ending.revocations, change, { ...opened, database })
          // The list leaves out what is revoked, so a record that stays does no harm.
          await sessions.remove(ending.sessions).catch(() => {})
          const ended = ending.sessions.map((session) => session.id)
          return { document: { ended, ...after }, notes: [ending.message] }
        },
      ),
    )
  return { document: { sessions: seen.length, users }, isSure, commit }
}

function endOne(id: string, live: readonly Session[]): Ending {
  const session = live.find((one) => one.id === id)
  if (session === undefined) {
    const hint = didYouMean(
      id,
      live.map((one) => one.id),
    )
    decline(`session ${JSON.stringify(id)} does not exist: "postern session list" shows all${hint}`)
  }
  const { userId, username, issuedAt, expiresAt, address } = session
  return {
    users: [userId],
    revocations: [{ kind: 'token', id, userId, issuedAt, until: expiresAt }],
    sessions: [session],
    subject: username,
    after: { session: id, address },
    message: `ended session ${id} of ${username} from ${address}`,
  }
}

async function endUser(
  named: string,
  parts: {
    readonly live: readonly Session[]
    readonly database: Database
    readonly mode: Parameters<typeof userRevocation>[1]
  },
): Promise<Ending> {
  const found = await usersNamed(named, parts.database)
  // go-admin may have renamed or deleted the account, whose sessions "session list" shows by this name.
  const recordedAs = parts.live.filter(({ username }) => username === named)
  const users = found.length > 0 ? found : [...new Set(recordedAs.map(({ userId }) => userId))]
  const accounts = await createAccountDirectory(parts.database).list()
  const isService = accounts.some(
    ({ userId, kind }) => kind === 'service' && users.includes(userId),
  )
  if (isService) {
    const revoke = `revoke its tokens with "postern token revoke --user ${named}"`
    decline(`${named} is a service account, which does not log in: ${revoke}`)
  }
  if (users.length === 0) {
    decline(
      noSuchUser(
        named,
        accounts.map(({ username }) => username),
      ),
    )
  }
  const sessions = parts.live.filter(({ userId }) => users.includes(userId))
  const recorded = count(sessions.length, 'session')
  return {
    users,
    revocations: users.map((userId) => userRevocation(userId, parts.mode)),
    sessions,
    subject: named,
    after: { users },
    message: `ended ${recorded} of user ${named}, and every other login of that user until now`,
  }
}

function endAll(live: readonly Session[], mode: Parameters<typeof userRevocation>[1]): Ending {
  return {
    users: 'all',
    revocations: [userRevocation(everyUser, mode)],
    sessions: live,
    subject: 'all users',
    after: { users: 'all' },
    message: `ended ${count(live.length, 'session')}, and every other login until now`,
  }
}
