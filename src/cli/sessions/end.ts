import { modeFacts } from '../../config/mode.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { protectedAccount, protectedAccounts } from '../../operations/accounts/protected-account.ts'
import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { decline } from '../../operations/declined.ts'
import { withSessions } from '../../operations/sessions/open-sessions.ts'
import { usersNamed } from '../../operations/tokens/revoke-tokens.ts'
import { noSuchUser } from '../../operations/unknown-name.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { AuditEntry } from '../../stores/audit/audit.ts'
import type { Database } from '../../stores/database/database.ts'
import { revokeRecorded } from '../../stores/revocations/recorded-revocation.ts'
import { liveSessions } from '../../stores/sessions/live-sessions.ts'
import type { Session } from '../../stores/sessions/session-store.ts'
import type { Revocation } from '../../token/revocations.ts'
import { everyUser, userRevocation } from '../../token/user-marks.ts'
import { type Run, UsageError } from '../command.ts'
import { isConfirmed } from '../confirm.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import type { endSpec } from './specs.ts'

/** What a command ends. */
interface Ending {
  readonly users: readonly string[] | 'all'
  readonly revocations: readonly Revocation[]
  /** The records that go. */
  readonly sessions: readonly Session[]
  readonly subject: string
  readonly after: AuditEntry['after']
  readonly message: string
}

/** Ends sessions on every gateway. */
export const sessionEnd: Run<typeof endSpec> = async (call, io) => {
  const { options } = call
  const [id] = call.arguments
  if (options.user !== undefined && options.all) {
    throw new UsageError('--user and --all cannot be combined')
  }
  const settings = accountSettings(options.config, io)
  const { application, jwt } = settings.config
  const mode = modeFacts(application.mode, jwt.timeout)
  if (options.all && !options.yes) {
    // Closed before asking: an open connection could block others while a person thinks.
    const live = await withSessions(settings, withDatabase, ({ sessions, revocations }) =>
      liveSessions(sessions, revocations),
    )
    if (!(await confirm(live, io))) return exitCodes.no
  }

  return withDatabase(settings, (database) =>
    withSessions(
      settings,
      async (_, work) => work(database),
      async ({ sessions, ...opened }) => {
        const live = await liveSessions(sessions, opened.revocations)
        const ending =
          id !== undefined
            ? endOne(id, live)
            : options.user !== undefined
              ? await endUser(options.user, { live, database, mode })
              : endAll(live, mode)
        const untouchable = (await protectedAccounts(database, io)).among(ending.users)
        if (untouchable !== undefined) throw protectedAccount(untouchable)
        const { subject, after } = ending
        const change = { actor: operator(io), action: 'session.end', subject, after } as const
        await revokeRecorded(ending.revocations, change, { ...opened, database })
        // The list leaves out what is revoked, so a record that stays does no harm.
        await sessions.remove(ending.sessions).catch(() => {})
        io.err(`postern: ${ending.message}\n`)
        const ids = ending.sessions.map((session) => session.id)
        if (options.output === 'json') io.out(json({ ended: ids, ...after }))
        return exitCodes.done
      },
    ),
  )
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
    message: `ended session ${printable(id)} of ${printable(username)} from ${printable(address)}`,
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
    message: `ended ${recorded} of user ${printable(named)}, and every other login of that user until now`,
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

async function confirm(live: readonly Session[], io: Io): Promise<boolean> {
  const users = new Set(live.map(({ userId }) => userId)).size
  const what = `${count(live.length, 'session')} of ${count(users, 'user')}`
  const unasked = `stdin or stderr is not a terminal: run again with --yes to end ${what}`
  return isConfirmed(`End ${what}? They must log in again.`, unasked, io)
}
