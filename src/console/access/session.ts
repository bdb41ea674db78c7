import { Fault, Refusal } from '../../kernel/errors.ts'
import { createLru } from '../../kernel/lru.ts'
import type { Caller } from '../../token/caller.ts'
import type { Revocations } from '../../token/revocations.ts'
import type { Sealing } from '../../token/sealing.ts'
import type { IssuedToken } from '../../token/sign-token.ts'
import { consoleIdPrefix, createTokenId } from '../../token/token-id.ts'
import type { ConsoleRole, FindConsoleRole } from './roles.ts'

/** A login to the console that was valid when the request arrived. Times are milliseconds since 1970. */
export interface ConsoleSession {
  /** Names it in `session list` and in the revocation list. */
  readonly id: string
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly role: ConsoleRole
  readonly issuedAt: number
  readonly expiresAt: number
  /** When its owner last entered a password or code; `undefined`: not in this session. */
  readonly confirmedAt: number | undefined
  /** What the login named as `provider`; `undefined`: the default, which is a password. */
  readonly provider: string | undefined
}

/** What the cookie holds. The role of the console is not in it: settings may change. */
type Sealed = Omit<ConsoleSession, 'role'>

/** The account of a session as it is now. */
interface CurrentAccount {
  readonly roleKey: string
  readonly enabled: boolean
}

interface SessionParts {
  /** With keys of the purpose `console`, so that no other token opens as a session, nor the reverse. */
  readonly sealing: Sealing
  readonly revocations: Pick<Revocations, 'check' | 'issueTime'>
  /** Throws a Fault while the database is unreachable. */
  readonly findAccount: (userId: string) => Promise<CurrentAccount | undefined>
  readonly findRole: FindConsoleRole
  readonly lifetimeSeconds: number
  /** Seconds since the epoch. */
  readonly now: () => number
  /** Records that a session is in use. Gets the same object for each request of one session. */
  readonly onSeen: (session: SeenName) => void
}

interface SeenName {
  readonly kind: 'user'
  readonly id: string
  readonly userId: string
}

interface NewSession {
  readonly provider: string | undefined
  /** Whether a password or code was entered just now. */
  readonly confirmed: boolean
}

/** How long after a password or code changes are allowed. */
export const confirmedMs = 300_000

/** Sessions whose use is recorded; beyond that they are recorded more often than needed. */
const mostSeen = 1000

/**
 * Issues and opens console sessions. The browser holds them, sealed, so that every replica of the
 * console accepts them and a restart ends none.
 */
export function createConsoleSessions(parts: SessionParts) {
  const { sealing, revocations, findAccount, findRole, lifetimeSeconds } = parts
  const nowMs = () => Math.floor(parts.now() * 1000)
  const seen = createLru<SeenName>(mostSeen)

  async function seal(session: Sealed): Promise<IssuedToken> {
    const { id, issuedAt, expiresAt } = session
    const token = await sealing.seal({ ...session })
    return { token, id, kid: undefined, issuedAt, expiresAt: new Date(expiresAt) }
  }

  /** Why this session is no longer valid. */
  async function problemOf(session: Sealed): Promise<Refusal | Fault | undefined> {
    const { id, userId, issuedAt, expiresAt, roleKey } = session
    if (nowMs() >= expiresAt) return new Refusal('token-expired')
    const state = revocations.check({ id, userId, issuedAt, kind: 'user' })
    if (state === 'revoked') return new Refusal('token-revoked')
    if (state === 'unknown') {
      return new Fault('revocations', { reason: 'the revocation list is too old' })
    }
    const account = await findAccount(userId)
    if (account?.enabled !== true) {
      return new Refusal('token-revoked', { reason: 'the account is disabled or deleted' })
    }
    if (account.roleKey !== roleKey) {
      return new Refusal('token-revoked', { reason: 'the account has another role' })
    }
    return undefined
  }

  function noteUse({ id, userId }: Sealed): void {
    const known = seen.get(id) ?? { kind: 'user', id, userId }
    seen.set(id, known)
    parts.onSeen(known)
  }

  return {
    /** `readAt` is when the account was read: a revocation since then ends this session too. */
    async issue(caller: Caller, readAt: number, given: NewSession): Promise<IssuedToken> {
      const { userId, username, roleKey } = caller
      if (findRole(roleKey) === undefined) {
        throw new Refusal('not-permitted', { reason: 'the role is not in console.roles' })
      }
      const issuedAt = revocations.issueTime(userId, Math.floor(readAt * 1000))
      return seal({
        ...{ userId, username, roleKey, issuedAt, provider: given.provider },
        id: `${consoleIdPrefix}${createTokenId(issuedAt)}`,
        expiresAt: issuedAt + lifetimeSeconds * 1000,
        confirmedAt: given.confirmed ? nowMs() : undefined,
      })
    },
    /** Issues the session again, confirmed just now. */
    confirm: ({ role: _, ...session }: ConsoleSession): Promise<IssuedToken> =>
      seal({ ...session, confirmedAt: nowMs() }),
    /** Throws a Refusal for everything but a valid session, and a Fault when it cannot decide. */
    async open(text: string): Promise<ConsoleSession> {
      // Made by `seal`, because no one else has the key.
      const session = (await sealing.open(text)) as unknown as Sealed | undefined
      if (session === undefined) throw new Refusal('token-invalid')
      const problem = await problemOf(session)
      if (problem !== undefined) throw problem
      const role = findRole(session.roleKey)
      if (role === undefined) throw new Refusal('not-permitted')
      noteUse(session)
      return { ...session, role }
    },
    problemOf,
    isConfirmed: ({ confirmedAt }: ConsoleSession): boolean =>
      confirmedAt !== undefined && nowMs() - confirmedAt < confirmedMs,
  }
}

export type ConsoleSessions = ReturnType<typeof createConsoleSessions>
