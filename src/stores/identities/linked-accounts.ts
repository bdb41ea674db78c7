import { Refusal } from '../../kernel/errors.ts'
import type { Identity, LinkedAccounts, LinkRules } from '../../login/linked-account.ts'
import type { Verified } from '../../login/login-method.ts'
import type { Caller } from '../../token/caller.ts'
import { toRole } from '../accounts/account-changes.ts'
import { editInside } from '../accounts/account-edit.ts'
import { underAccountsLock } from '../accounts/account-queries.ts'
import { createBounded } from '../accounts/bounded.ts'
import { gatewayActor } from '../audit/audit.ts'
import type { Database, Inside, TableShapes } from '../database/database.ts'
import { isStorable } from '../database/dialect.ts'
import { firstLogin, missingRole, type Refused, refused } from './first-login.ts'
import {
  type FoundAccount,
  findLinked,
  isLocalAccount,
  issuerOf,
  touchLink,
} from './identity-rows.ts'

interface LinkedAccountsParts {
  /** Seconds since the epoch. */
  readonly now: () => number
  /** Revokes every token of a user issued until now. Does not throw. */
  readonly revokeTokensOf: (userId: string) => Promise<unknown>
  readonly timeoutMs?: number
}

/** Nothing takes longer than `timeoutMs`. A change and its audit rows are one transaction. */
export function createLinkedAccounts(
  database: Database,
  { now, revokeTokensOf, timeoutMs = 10_000 }: LinkedAccountsParts,
): LinkedAccounts {
  const { db, shapes } = database
  const bounded = createBounded(timeoutMs)
  const actor = gatewayActor()

  async function signIn(identity: Identity, rules: LinkRules): Promise<Verified> {
    const problem = identityProblem(identity)
    if (problem !== undefined) throw new Refusal('no-account', { reason: problem })
    if (identity.roleProblem !== undefined) {
      throw await refusalOf(identity, refused('no-role', identity.roleProblem))
    }

    const readAt = now()
    const found = await read(identity)
    // Most logins change nothing, and need neither the lock nor a transaction.
    if (found !== undefined && !isToChange(found, identity, rules)) {
      return { caller: admitted(found, identity), readAt }
    }

    const change = await bounded(() =>
      underAccountsLock(database, (inside, shape) => settle(inside, shape, identity, rules)),
    )
    if ('refused' in change) throw await refusalOf(identity, change)
    if (change.revoke !== undefined) await revokeTokensOf(change.revoke)
    // Read after the revocation, so that this login's token is not among the revoked ones.
    const readAgainAt = now()
    return { caller: admitted(await read(identity), identity), readAt: readAgainAt }
  }

  /** Tokens from before carry the role that this person has lost: they must not outlive the refusal. */
  async function refusalOf(identity: Identity, { refused, reason }: Refused): Promise<Refusal> {
    const found =
      refused === 'no-role'
        ? await bounded(async () => findLinked(db, await shapes(), identity))
        : undefined
    if (found === undefined || found.service) return new Refusal(refused, { reason })
    await revokeTokensOf(found.caller.userId)
    const whose = JSON.stringify(found.caller.username)
    return new Refusal(refused, { reason: `${reason}; revoked the tokens of account ${whose}` })
  }

  async function read(identity: Identity): Promise<FoundAccount | undefined> {
    return bounded(async () => {
      const found = await findLinked(db, await shapes(), identity)
      if (found !== undefined) await touchLink(db, identity)
      return found
    })
  }

  async function settle(
    inside: Inside,
    shape: TableShapes,
    identity: Identity,
    rules: LinkRules,
  ): Promise<Refused | { readonly revoke: string | undefined }> {
    if ((await findLinked(inside, shape, identity)) === undefined) {
      const refusal = await firstLogin(inside, shape, { identity, rules, actor })
      if (refusal !== undefined) return refusal
    }
    const account = await findLinked(inside, shape, identity)
    if (account === undefined || !isToChange(account, identity, rules)) return { revoke: undefined }
    const { roleKey = '' } = identity
    const { userId, username } = account.caller
    const whose = { actor, username, which: { userId } }
    const edited = await editInside(inside, shape, whose, toRole(roleKey))
    if (typeof edited !== 'string') return { revoke: userId }
    if (edited === 'no-such-role') return refused('no-role', missingRole(roleKey))
    // Neither an admin whom the provider no longer calls one, nor a gateway without any admin.
    const reason = `role ${JSON.stringify(roleKey)} would leave no enabled admin: create another one, or run "postern user role" with --force for ${JSON.stringify(username)}`
    return refused('no-role', reason)
  }

  return {
    signIn,
    isLocal: async (username, issuer) =>
      isStorable(username) &&
      bounded(async () => isLocalAccount(db, await shapes(), { username, issuer })),
  }
}

function isToChange(
  { caller, enabled, service }: FoundAccount,
  { roleKey }: Identity,
  { syncRole }: LinkRules,
): boolean {
  if (service || !enabled) return false
  return syncRole && roleKey !== undefined && roleKey !== caller.roleKey
}

function admitted(found: FoundAccount | undefined, { provider }: Identity): Caller {
  if (found === undefined || found.service) {
    const reason = `the account linked to this user of provider ${provider} is deleted or a service account`
    throw new Refusal('no-account', { reason })
  }
  const { caller, enabled } = found
  const name = JSON.stringify(caller.username)
  if (!enabled) throw new Refusal('account-disabled', { reason: `account ${name} is disabled` })
  // The policy decides by role key: without one it cannot decide.
  if (caller.roleKey === '') {
    throw new Refusal('no-role', { reason: `the role of account ${name} does not exist` })
  }
  return caller
}

/** A subject that was cut to fit would be that of another person too. */
function identityProblem(identity: Identity): string | undefined {
  for (const [what, text] of [
    ['issuer', issuerOf(identity)],
    ['subject', identity.subject],
  ] as const) {
    if (text === '' || text.length > 255 || !isStorable(text)) {
      return `provider ${identity.provider} sent a ${what} that is empty, longer than 255 characters or not text`
    }
  }
  return undefined
}
