import type { Identity } from '../../login/linked-account.ts'
import { underAccountsLock } from '../accounts/account-queries.ts'
import { type Actor, appendAudit } from '../audit/audit.ts'
import {
  type Database,
  type Inside,
  requireTables,
  type TableShapes,
} from '../database/database.ts'
import { isStorable } from '../database/dialect.ts'
import { findLinked, findNamed, insertLink, issuerOf } from './identity-rows.ts'
import { readLinks } from './read-links.ts'

/** The ID of the changed account. */
interface Changed {
  readonly userId: string
}

/** Why nothing changed. */
type Unchanged = 'no-such-user' | 'service-account'

/**
 * How operators change links. A change and its audit rows are one transaction. Changes
 * `postern_identity` in the name of `actor`. Every error of the driver becomes a Fault.
 */
export function createLinkChanges(database: Database, actor: Actor) {
  function change<Result>(
    username: string,
    work: (inside: Inside, shapes: TableShapes, userId: string) => Promise<Result>,
  ): Promise<Result | Unchanged> {
    return underAccountsLock(database, async (inside, shapes) => {
      requireTables(shapes, 'postern_identity')
      // No account has a name that no column can hold; the server would report an error.
      const account = isStorable(username) ? await findNamed(inside, shapes, username) : undefined
      if (account === undefined) return 'no-such-user'
      if (account.service) return 'service-account'
      return work(inside, shapes, account.caller.userId)
    })
  }

  return {
    /** Links the account that login would choose. `holder`: the account that has this identity. */
    link: (
      username: string,
      given: Pick<Identity, 'provider' | 'issuer' | 'subject'>,
    ): Promise<Changed | Unchanged | { readonly holder: string }> =>
      change(username, async (inside, shapes, userId) => {
        const identity = { ...given, username }
        const holder = await findLinked(inside, shapes, identity)
        if (holder !== undefined) return { holder: holder.caller.username }
        await insertLink(inside, identity, { userId, linkedBy: actor.name, seen: false })
        const after = { provider: given.provider, issuer: issuerOf(given), subject: given.subject }
        const entry = { actor, action: 'user.link', subject: username, after } as const
        await appendAudit(inside, shapes, [entry])
        return { userId }
      }),
    /** Removes its links to one provider, by name or issuer, or all of them. */
    unlink: (
      username: string,
      provider: string | undefined,
    ): Promise<Changed | Unchanged | 'not-linked'> =>
      change(username, async (inside, shapes, userId) => {
        const links = (await readLinks(inside, userId)).filter(
          (link) => provider === undefined || [link.provider, link.issuer].includes(provider),
        )
        if (links.length === 0) return 'not-linked'
        for (const { issuer, subject } of links) {
          const link = inside.deleteFrom('postern_identity')
          await link.where(({ and }) => and({ issuer, subject })).execute()
        }
        const entry = { actor, action: 'user.unlink', subject: username } as const
        const entries = links.map(({ provider: name, issuer, subject }) => ({
          ...{ ...entry, before: { provider: name, issuer, subject } },
        }))
        await appendAudit(inside, shapes, entries)
        return { userId }
      }),
  }
}
