import type { TokenProblem } from '../../admission/verdict.ts'
import type { Refusal } from '../../kernel/errors.ts'
import type { Context } from '../context.ts'
import { InvalidInput } from '../invalid-input.ts'
import { tokenSettings } from '../tokens/configured-keys.ts'
import { readToken } from '../tokens/read-token.ts'
import { verifyAsGateway } from '../tokens/verify-token.ts'
import type { QueryCaller } from './query-caller.ts'
import { tokenProblems } from './verdict-words.ts'

/** The owner of a token, if the gateway accepts it. Nothing of the answer has the token. */
export async function callerOfToken(argument: string, context: Context): Promise<QueryCaller> {
  const settings = tokenSettings(context.configFile, context)
  const text = await readToken(argument, context)
  if (text === '') throw new InvalidInput(undefined, '--token -: stdin has no token')
  const verified = await verifyAsGateway(text, settings)
  if (verified.token === undefined) return rejected(verified.refusal)

  const { caller, id, expiresAt, domain = null } = verified.token
  const { unread } = verified
  const { username, userId, roleKey, dataScope } = caller
  const expires = timeOf(expiresAt)
  return {
    name: `${username} (role ${roleKey})`,
    roleKey,
    domain,
    rows: [
      [
        'token',
        `of ${username} (ID ${userId}, role ${roleKey}, data scope ${dataScope || 'empty'}), expires ${expires}`,
      ],
    ],
    facts: { token: { id, expiresAt: expires, caller } },
    notes:
      unread === undefined ? [] : [`the token counts as not revoked: cannot check it: ${unread}`],
  }
}

function rejected(refusal: Refusal): QueryCaller {
  const problem = problemOf(refusal)
  const { reason } = refusal.detail
  return {
    name: 'a caller without a valid token',
    problem,
    ...{ rows: [], facts: {}, notes: [] },
    ...(reason !== undefined && { why: `${tokenProblems[problem]}: ${reason}` }),
  }
}

function problemOf({ kind }: Refusal): TokenProblem {
  switch (kind) {
    case 'token-expired':
    case 'token-revoked':
    case 'token-too-long-lived':
      return kind
    default:
      return 'token-invalid'
  }
}

/** Other issuers write an expiry that never comes. */
function timeOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? 'never' : date.toISOString()
}
