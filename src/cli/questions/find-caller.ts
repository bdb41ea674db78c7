import { UsageError } from '../command.ts'
import type { Io } from '../io.ts'
import { callerOfAccount } from './account-caller.ts'
import type { AskedCaller } from './asked-caller.ts'
import { callerOfToken } from './token-caller.ts'

interface CallerOptions {
  readonly role: string | undefined
  readonly user: string | undefined
  readonly token: string | undefined
  readonly anonymous: boolean
  readonly config: string | undefined
}

/** Throws `UsageError` when two options name a caller. */
export function checkCaller({ user, token, anonymous }: Omit<CallerOptions, 'role'>): void {
  const given = [
    ...(user === undefined ? [] : ['--user']),
    ...(token === undefined ? [] : ['--token']),
    ...(anonymous ? ['--anonymous'] : []),
  ]
  if (given.length > 1) throw new UsageError(`${given.join(' and ')} cannot be combined`)
}

/** Finds the caller: a role as it is written, an account, the owner of a token, or no one known. */
export async function findCaller(options: CallerOptions, io: Io): Promise<AskedCaller> {
  const { role, user, token } = options
  if (user !== undefined) return callerOfAccount(user, options.config, io)
  if (token !== undefined) return callerOfToken(token, options.config, io)
  if (role !== undefined) {
    // Printed as a role, it would be in the log of a pipeline.
    if (looksLikeToken.test(role)) {
      throw new UsageError('ROLE is a token: give it on stdin, with --token - in place of ROLE')
    }
    return { name: role, roleKey: role, rows: [], facts: {}, notes: [] }
  }
  const name = 'a caller without a token'
  return { name, problem: 'token-missing', rows: [], facts: {}, notes: [] }
}

/** The header of a JWT is a JSON object, so its base64url begins with `eyJ`. */
const looksLikeToken = /^(?:Bearer )?eyJ[\w-]+\.[\w-]+\.[\w-]*$/i
