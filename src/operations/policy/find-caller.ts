import type { Context } from '../context.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { InputOf } from '../operation.ts'
import { callerOfAccount } from './account-caller.ts'
import type { policyExplain } from './descriptions.ts'
import type { QueryCaller } from './query-caller.ts'
import { callerOfToken } from './token-caller.ts'

type Named = Pick<InputOf<(typeof policyExplain)['input']>, 'role' | 'user' | 'token' | 'anonymous'>

/** Throws `InvalidInput` when two options name a caller. */
export function checkCaller({ user, token, anonymous }: Named): void {
  const given = [
    ...(user === undefined ? [] : ['--user']),
    ...(token === undefined ? [] : ['--token']),
    ...(anonymous ? ['--anonymous'] : []),
  ]
  if (given.length > 1) {
    throw new InvalidInput(undefined, `${given.join(' and ')} cannot be combined`)
  }
}

/** Finds the caller: a role as it is written, an account, the owner of a token, or no one known. */
export async function findCaller(
  { role, user, token }: Named,
  context: Context,
): Promise<QueryCaller> {
  if (user !== undefined) return callerOfAccount(user, context)
  if (token !== undefined) return callerOfToken(token, context)
  if (role !== undefined) {
    // Printed as a role, it would be in the log of a pipeline.
    if (looksLikeToken.test(role)) {
      throw new InvalidInput(
        undefined,
        'ROLE is a token: give it on stdin, with --token - in place of ROLE',
      )
    }
    return { name: role, roleKey: role, rows: [], facts: {}, notes: [] }
  }
  const name = 'a caller without a token'
  return { name, problem: 'token-missing', rows: [], facts: {}, notes: [] }
}

/** The role of a question about all calls. Declines an account that cannot log in. */
export async function findRole({ role, user }: Pick<Named, 'role' | 'user'>, context: Context) {
  const caller = await findCaller({ role, user, token: undefined, anonymous: false }, context)
  if (caller.roleKey !== undefined) return caller
  return decline(`${caller.why}; "postern policy open" lists what needs no login`)
}

/** The header of a JWT is a JSON object, so its base64url begins with `eyJ`. */
const looksLikeToken = /^(?:Bearer )?eyJ[\w-]+\.[\w-]+\.[\w-]*$/i
