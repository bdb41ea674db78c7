import type { RefusalKind } from '../../kernel/errors.ts'
import type { Identity, LinkRules } from '../../login/linked-account.ts'
import { insertAccount } from '../accounts/account-insert.ts'
import { nameProblem } from '../accounts/account-name.ts'
import { adminKey } from '../accounts/last-admin.ts'
import { unusablePassword } from '../accounts/unusable-password.ts'
import { type Actor, appendAudit } from '../audit/audit.ts'
import type { Inside, TableShapes } from '../database/database.ts'
import { live, same, toStorable } from '../database/dialect.ts'
import { findNamed, hasLink, insertLink, issuerOf } from './identity-rows.ts'

/**
 * Links an identity that no live account has: to the account of its name, or to a new one. Runs under
 * the accounts lock, so that of several first logins of one person the first creates the account.
 */
export async function firstLogin(
  inside: Inside,
  shapes: TableShapes,
  attempt: { readonly identity: Identity; readonly rules: LinkRules; readonly actor: Actor },
): Promise<Refused | undefined> {
  const { identity, rules, actor } = attempt
  const { username } = identity
  const whom = `${JSON.stringify(username)} (subject ${JSON.stringify(identity.subject)}) of provider ${identity.provider}`
  if (identity.hasUnverifiedName) {
    const reason = `${whom} has no account, and the ID token has no email_verified: true, so anyone can have that name: use another claim as claims.username, or "postern user link"`
    return refused('no-account', reason)
  }
  const problem = nameProblem(username)
  if (problem !== undefined) return refused('no-account', `${whom} needs another name: ${problem}`)

  // A name in another letter case is taken as well: it would pass for that person in every list.
  const holder = await holderOf(inside, shapes, username)
  if (holder !== undefined) {
    const named = rules.linkByUsername ? await findNamed(inside, shapes, username) : undefined
    const mayLink =
      named !== undefined &&
      !named.service &&
      named.caller.roleKey !== adminKey &&
      !(named.secondFactor && rules.skipsSecondFactor) &&
      !(await hasLink(inside, named.caller.userId, issuerOf(identity)))
    if (mayLink) {
      await link(inside, shapes, named.caller.userId, attempt)
      return undefined
    }
    const reason = `${whom} is not linked, and account ${JSON.stringify(holder)} has that name: link them with "postern user link" if they are the same person`
    return refused('no-account', reason)
  }

  if (!rules.create) {
    const reason = `${whom} has no account, and this provider creates none: add one with "postern user add" and "postern user link", or set "create"`
    return refused('no-account', reason)
  }
  const { roleKey } = identity
  if (roleKey === undefined) return refused('no-role', `${whom} has no role for a new account`)
  const added = await insertAccount(inside, shapes, {
    username,
    roleKey,
    passwordHash: unusablePassword(),
    nickName: shown(identity.displayName) || username,
    email: shown(identity.email),
  })
  if (added === 'no-such-role') return refused('no-role', missingRole(roleKey))
  if (added === 'name-taken') throw new Error('the name was free under the accounts lock')
  const after = { ...added, role: roleKey }
  await appendAudit(inside, shapes, [{ actor, action: 'user.add', subject: username, after }])
  await link(inside, shapes, added.userId, attempt)
  return undefined
}

export function missingRole(roleKey: string): string {
  const key = JSON.stringify(roleKey)
  return `role ${key} does not exist: create it with "postern role add", or map another`
}

async function link(
  inside: Inside,
  shapes: TableShapes,
  userId: string,
  { identity, actor }: { readonly identity: Identity; readonly actor: Actor },
): Promise<void> {
  await insertLink(inside, identity, { userId, linkedBy: actor.name, seen: true })
  const { provider, subject, username } = identity
  const after = { provider, issuer: issuerOf(identity), subject }
  await appendAudit(inside, shapes, [{ actor, action: 'user.link', subject: username, after }])
}

async function holderOf(
  inside: Inside,
  { users }: TableShapes,
  username: string,
): Promise<string | undefined> {
  const holder = await inside
    .selectFrom('sys_user as u')
    .select('u.username')
    .where(live('u', users))
    .where(({ eb, fn }) => eb(fn('lower', ['u.username']), '=', fn('lower', [eb.val(username)])))
    .orderBy(same('u.username', username), 'desc')
    .orderBy('u.user_id')
    .limit(1)
    .executeTakeFirst()
  return holder?.username ?? undefined
}

/** Another system's text as our columns hold it, without what could reorder or break a line. */
function shown(text = ''): string {
  return toStorable(text.replace(/\p{Cc}|\p{Bidi_Control}/gu, ''), 128).trim()
}

/** A Refusal as data: thrown inside a transaction it would become a Fault of the database. */
export interface Refused {
  readonly refused: Extract<RefusalKind, 'no-account' | 'account-disabled' | 'no-role'>
  readonly reason: string
}

export function refused(kind: Refused['refused'], reason: string): Refused {
  return { refused: kind, reason }
}
