import { Refusal } from '../../kernel/errors.ts'
import type { Tokens, VerifiedToken } from '../../token/tokens.ts'
import { Problem } from '../problem.ts'
import type { ConsoleRole, FindConsoleRole } from './roles.ts'

/** A call with a token of a service account that was valid when the request arrived. */
export interface ServiceSession {
  readonly id: string
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly role: ConsoleRole
  readonly token: VerifiedToken
}

interface ServiceParts {
  /** Verifies tokens as the gateway does. */
  readonly tokens: Pick<Tokens, 'verify' | 'problemOf'>
  /** By the name of a service account, not by its role: a role may be shared with people. */
  readonly findRole: FindConsoleRole
  readonly onSeen: (token: VerifiedToken) => void
}

export type ServiceSessions = ReturnType<typeof createServiceSessions>

/** Opens the tokens of the service accounts that may use the management API. */
export function createServiceSessions({ tokens, findRole, onSeen }: ServiceParts) {
  async function verify(text: string): Promise<VerifiedToken> {
    try {
      return await tokens.verify(text)
    } catch (error) {
      if (error instanceof Refusal) throw new Problem(401, whyRefused(error), error.kind)
      throw error
    }
  }

  return {
    /** Throws a Problem unless this is a valid token of a service account with a role here. */
    async open(text: string): Promise<ServiceSession> {
      const token = await verify(text)
      if (token.kind !== 'service') {
        throw new Problem(401, 'only tokens of service accounts are accepted', 'token-invalid')
      }
      const { username, roleKey } = token.caller
      const role = findRole(username)
      if (role === undefined) {
        const problem = `service account ${username} is not in console.services`
        throw new Problem(403, problem, 'not-permitted')
      }
      onSeen(token)
      const { id, userId } = token
      return { id, userId, username, roleKey, role, token }
    },
    problemOf: async ({ token }: ServiceSession) => tokens.problemOf(token),
  }
}

/** The texts for people ask them to log in again. */
function whyRefused({ kind }: Refusal): string {
  if (kind === 'token-expired') return 'the token has expired'
  if (kind === 'token-revoked') return 'the token is revoked'
  if (kind === 'token-too-long-lived')
    return 'the token lives longer than tokens.service.maxLifetime'
  return 'not a valid token of this gateway'
}
