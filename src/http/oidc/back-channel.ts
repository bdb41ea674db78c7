import type { Reply } from '../../gateway/reply.ts'
import type { Received } from '../../gateway/stages.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { EndSessions } from '../../login/redirect-login.ts'
import { replyJson } from '../json-reply.ts'
import { readBody } from '../read-body.ts'

/** A logout token is as large as an ID token. */
const maxFormBytes = 24_576

/** Answers a provider that reports the end of a session (Back-Channel Logout 1.0, 2.5 and 2.8). */
export async function replyBackChannel(
  received: Received,
  reply: Reply,
  end: EndSessions,
): Promise<void> {
  await end(await readLogoutToken(received, reply))
  replyJson(reply, 200, { code: 200, msg: 'success' })
}

async function readLogoutToken({ arrival, headers }: Received, reply: Reply): Promise<string> {
  const type = headers.contentType?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') throw bad('the body is not a form')
  const isTooLarge = Number(headers.contentLength ?? 0) > maxFormBytes
  if (headers.expectsContinue && !isTooLarge) reply.writeContinue()
  const bytes = isTooLarge ? undefined : await readBody(arrival.body, maxFormBytes)
  if (bytes === undefined) throw bad('the body is too large')
  const [token, ...others] = new URLSearchParams(bytes.toString('latin1')).getAll('logout_token')
  if (token === undefined || others.length > 0) throw bad('logout_token must come once')
  return token
}

function bad(reason: string): Refusal {
  return new Refusal('bad-logout-token', { reason })
}
