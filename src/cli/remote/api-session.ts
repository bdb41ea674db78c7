import { consoleCookies } from '../../kernel/console-cookies.ts'
import { Fault } from '../../kernel/errors.ts'
import { readJson } from '../../kernel/json.ts'
import { decline } from '../../operations/declined.ts'
import { answeredType, type CallAnswer } from '../../operations/offered/answer-call.ts'
import { UsageError } from '../command.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import type { Gateway } from './gateway.ts'
import { readAnswer } from './read-answer.ts'
import { type ApiCall, type ApiReply, send } from './send.ts'
import { readSession, type StoredSession, writeSession } from './session-file.ts'

/** What a console answers in place of an answer. */
interface ApiError {
  readonly status: number
  readonly message: string
  /** Which refusal it is; empty: none of those. */
  readonly kind: string
}

export function readError({ status, text }: ApiReply): ApiError {
  const { errors } = (readJson(text) ?? {}) as { readonly errors?: unknown }
  const [first] = Array.isArray(errors) ? errors : []
  const { message, kind } = (first ?? {}) as Partial<Record<string, unknown>>
  const isText = typeof message === 'string' && message !== ''
  return {
    status,
    message: isText ? printable(message.slice(0, 1000)) : `status ${status}, and no reason`,
    kind: typeof kind === 'string' ? kind : '',
  }
}

/** The command that logs in at this gateway, for messages. */
function loginCommand({ origin }: Gateway): string {
  return `"postern gateway login --gateway ${origin}"`
}

/** The stored session of a gateway. Throws a Fault when there is none. */
async function openSession(gateway: Gateway, io: Io): Promise<StoredSession> {
  const session = await readSession(gateway, io)
  if (session !== undefined) return session
  throw new Fault('gateway', {
    reason: `not logged in to ${gateway.origin}: run ${loginCommand(gateway)}`,
  })
}

/**
 * Sends a request with the token or session. When the console wants the password again, asks for it and
 * sends the request once more. Throws a Fault for everything that logging in again or another role solves.
 */
export async function sendInSession(gateway: Gateway, sent: ApiCall, io: Io): Promise<ApiReply> {
  if (gateway.token !== undefined) {
    const answer = await send(gateway, { ...sent, token: gateway.token })
    return isRefusal(answer) ? refuseToken(gateway, readError(answer)) : answer
  }
  const session = await openSession(gateway, io)
  const answer = await send(gateway, { ...sent, cookie: session.cookie })
  if (!isRefusal(answer)) return answer
  const refused = readError(answer)
  if (refused.kind !== 'confirmation-needed') return refuse(gateway, refused)
  const confirmed = await confirmSession(gateway, session, io)
  const again = await send(gateway, { ...sent, cookie: confirmed.cookie })
  return isRefusal(again) ? refuse(gateway, readError(again)) : again
}

/** What an operation answers is an answer, also "no, not you". */
function isRefusal({ status, type }: ApiReply): boolean {
  return (status === 401 || status === 403) && type !== answeredType
}

function refuse(gateway: Gateway, { status, message, kind }: ApiError): never {
  if (status === 401 || kind.startsWith('token-')) {
    const reason = `the session at ${gateway.origin} has expired or was revoked: run ${loginCommand(gateway)}`
    throw new Fault('gateway', { reason })
  }
  const why = kind === 'not-permitted' ? 'your console role does not allow it' : message
  throw new Fault('gateway', { reason: `${gateway.origin} refused: ${why}` })
}

/** A program cannot log in again: only who issued its token can help. */
function refuseToken({ origin }: Gateway, { message, kind }: ApiError): never {
  // Also of a console that does not know such tokens.
  const why = kind === 'token-missing' ? 'its console.services is empty' : message
  throw new Fault('gateway', { reason: `${origin} refused POSTERN_GATEWAY_TOKEN: ${why}` })
}

/** Asks the person for password and code, and keeps the confirmed session. */
async function confirmSession(
  gateway: Gateway,
  session: StoredSession,
  io: Io,
): Promise<StoredSession> {
  if (io.isTerminal !== true || io.prompt === undefined) {
    const reason = `this change needs a password entered within five minutes: run ${loginCommand(gateway)}, then run it again`
    throw new Fault('gateway', { reason })
  }
  const question = printable(`Password of ${session.username}: `)
  const password = (await io.prompt(question, { isHidden: true })) ?? decline('not changed')
  const fields = { password }
  const path = 'session/confirm'
  const post = (body: object) =>
    send(gateway, { method: 'POST', path, body, cookie: session.cookie, timeoutMs: loginMs })
  let answer = await post(fields)
  if (answer.status !== 200 && readError(answer).kind === 'otp-needed') {
    const otp = (await io.prompt('One-time code: ')) ?? decline('not changed')
    answer = await post({ ...fields, otp })
  }
  if (answer.status !== 200) {
    const { message } = readError(answer)
    throw new Fault('gateway', { reason: `${gateway.origin} refused: ${message}` })
  }
  return keepSession(gateway, answer, io)
}

/** Password checks are slow on purpose, and may wait for others. */
export const loginMs = 60_000

/** Keeps the session that an answer issues. Throws a Fault when it issues none. */
export async function keepSession(
  gateway: Gateway,
  { setCookies, text }: ApiReply,
  io: Io,
): Promise<StoredSession> {
  const cookies = setCookies
    .map((each) => each.split(';', 1)[0] ?? '')
    .filter((each) => cookieForm.test(each))
  const [cookie] = cookies
  const { username } = (readJson(text) ?? {}) as { readonly username?: unknown }
  if (cookie === undefined || cookies.length > 1 || typeof username !== 'string') {
    throw notAConsole(gateway)
  }
  const session = { gateway: gateway.origin, cookie, username }
  await writeSession(gateway, session, io)
  return session
}

const cookieForm = new RegExp(
  `^(?:${consoleCookies.plain}|${consoleCookies.secure})=[A-Za-z0-9._~-]{1,8192}$`,
)

export function notAConsole({ origin }: Gateway): Fault {
  return new Fault('gateway', {
    reason: `${origin} did not answer like the console of a gateway: check --gateway`,
  })
}

/** Longer than a question may take, and the questions before it. */
export const questionMs = 180_000
/** Beyond what the caller asks a change to wait. */
export const changeMs = 120_000

/** All that a console answers to a call. Throws when it did not answer it. */
export async function askConsole(gateway: Gateway, sent: ApiCall, io: Io): Promise<CallAnswer> {
  const answer = await sendInSession(gateway, { ...sent, accept: answeredType }, io)
  const answered = answer.type === answeredType ? readAnswer(answer.text) : undefined
  return answered ?? failed(gateway, answer)
}

/** For an answer that a command cannot show. */
export function unreadable({ origin }: Gateway): Fault {
  return new Fault('gateway', {
    reason: `${origin} answered what this version cannot show: use the version of the gateway, and check --gateway`,
  })
}

/** The console has no answer to the call. */
function failed(gateway: Gateway, answer: ApiReply): never {
  const { status, message } = readError(answer)
  if (status === 200 || status === 0) throw notAConsole(gateway)
  if (status === 400) throw new UsageError(message)
  if (status === 404) {
    throw new Fault('gateway', {
      reason:
        'the console does not offer this: changes need console.write, and its version may be another one',
    })
  }
  throw new Fault('gateway', { reason: message })
}
