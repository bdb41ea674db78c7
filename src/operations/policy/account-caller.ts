import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import { createAccounts } from '../../stores/accounts/accounts.ts'
import type { Database } from '../../stores/database/database.ts'
import { createServiceDirectory } from '../../stores/services/service-directory.ts'
import type { Caller } from '../../token/caller.ts'
import { accountSettings, settingsOf, withExistingDatabase } from '../configured-database.ts'
import type { Context } from '../context.ts'
import { lockoutOf } from '../logins/lockout.ts'
import { policySettings, unavailable } from '../policy-settings.ts'
import type { QueryCaller } from './query-caller.ts'

/**
 * The caller that a login with this name yields, by the query of the login. An account that cannot
 * log in is a caller without a token.
 */
export async function callerOfAccount(name: string, context: Context): Promise<QueryCaller> {
  const { configFile: file } = context
  // No token is read, so the signing secret may be missing; whatever else is wrong is reported.
  const config = policySettings(file, context).config ?? accountSettings(file, context).config
  const caller = await withExistingDatabase(settingsOf(config, context), (each) => find(name, each))
  const seconds = (await lockoutOf(name, file, context)) ?? 0
  return seconds === 0 ? caller : { ...caller, notes: [...caller.notes, lockedOut(name, seconds)] }
}

function lockedOut(name: string, seconds: number): string {
  return `logins of ${name} are locked out for ${seconds} s after wrong passwords, except from addresses that ${name} logged in from; tokens stay valid`
}

async function find(name: string, database: Database): Promise<QueryCaller> {
  const account = await createAccounts(database).findByUsername(name)
  if (account === undefined) return withoutRole(name, database)

  const { caller, enabled } = account
  const { userId, roleKey, dataScope } = caller
  const words = `${name} (ID ${userId}, role ${roleKey}, data scope ${dataScope || 'empty'})`
  const facts = { account: { ...caller, enabled } }
  const rows = [['account', `${words}${enabled ? '' : ', disabled'}`]]
  if (!enabled) return cannotLogIn(name, 'the account is disabled', { rows, facts })
  return { name: `${name} (role ${roleKey})`, roleKey, rows, facts, notes: [] }
}

/** The policy decides by role key, so login refuses an account without a role. */
async function withoutRole(name: string, database: Database): Promise<QueryCaller> {
  const service = await createServiceDirectory(database).callerOf(name)
  if (typeof service !== 'string') return ofService(service)
  const [userId] = await createAccountDirectory(database).idsOf(name)
  if (userId === undefined) {
    return unavailable(
      `user ${JSON.stringify(name)} does not exist: "postern user list" shows all users`,
    )
  }
  return cannotLogIn(name, 'the account has no role', {
    rows: [['account', `${name} (ID ${userId}), without a role`]],
    facts: { account: { userId, username: name, roleKey: null } },
  })
}

/** A program has no login, but tokens that carry its role. */
function ofService(caller: Caller): QueryCaller {
  const { username: name, userId, roleKey, dataScope } = caller
  const words = `${name} (ID ${userId}, role ${roleKey}, data scope ${dataScope || 'empty'})`
  return {
    ...{ name: `${name} (role ${roleKey})`, roleKey },
    rows: [['service account', words]],
    facts: { account: { ...caller, kind: 'service' } },
    notes: [],
  }
}

function cannotLogIn(
  name: string,
  reason: string,
  about: Pick<QueryCaller, 'rows' | 'facts'>,
): QueryCaller {
  return {
    ...about,
    name,
    problem: 'token-missing',
    why: `${name} cannot log in: ${reason}`,
    notes: [`a token that ${name} got before may still be valid; ask with --token`],
  }
}
