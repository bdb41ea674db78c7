import { readCookie } from '../gateway/carriers.ts'
import type { FindCrossSite } from '../gateway/cross-site.ts'
import type { OwnResponses } from '../gateway/pipeline.ts'
import type { Reply } from '../gateway/reply.ts'
import type { Authorized, Received } from '../gateway/stages.ts'
import { Refusal } from '../kernel/errors.ts'
import type { IssuedCaptcha } from '../login/captcha/captcha.ts'
import type { ChangePassword } from '../login/change-password.ts'
import { type JsonBody, readJsonFields } from '../login/json-fields.ts'
import type { Login } from '../login/login.ts'
import type { RecordAttempt } from '../login/login-log.ts'
import type { Redirects } from '../login/redirect-login.ts'
import type { Throttle } from '../login/throttle.ts'
import type { Messages } from '../messages/messages.ts'
import { replyJson } from './json-reply.ts'
import { attemptCookies, loginResult } from './login-result.ts'
import { readBody } from './read-body.ts'
import type { TokenCookie } from './token-cookie.ts'

interface OwnResponseParts {
  readonly login: Login
  readonly changePassword: ChangePassword
  readonly issueCaptcha: () => Promise<IssuedCaptcha>
  readonly throttle: Throttle
  readonly readProfile: (userId: string) => Promise<Readonly<Record<string, unknown>> | undefined>
  readonly record: RecordAttempt
  readonly cookie: TokenCookie
  readonly crossSite: FindCrossSite
  readonly messages: Messages
  /** Where a logout goes on that also ends the session at an identity provider. Does not throw. */
  readonly endSessionUrl?: Redirects['endSessionUrl']
  /** Absent without a configured provider. */
  readonly oidc?: Pick<OwnResponses, 'toAnyone'> | undefined
  /** Absent when the login page is off. */
  readonly page: OwnResponses | undefined
}

/** A few short fields as JSON need less. */
const maxJsonBytes = 16_384

/** Postern's own endpoints, in the formats that existing clients read. */
export function createOwnResponses(parts: OwnResponseParts): OwnResponses {
  async function login(received: Received, reply: Reply): Promise<void> {
    const foreign = parts.crossSite(received) !== undefined
    const body = await readJson(received, reply)
    const { setCookie, cookies } = attemptCookies(reply)
    const issued = await parts.login({
      fields: () => readJsonFields(body, 'bad-login-request'),
      cookie: (name) => readCookie(received, name),
      setCookie,
      address: received.origin.address,
      userAgent: received.headers.userAgent,
      foreign,
    })
    // Login CSRF: a page of another site could log its visitor in to the attacker's account.
    const token = foreign ? [] : parts.cookie.issued(issued.token)
    replyJson(reply, 200, loginResult(issued), [...token, ...cookies])
  }

  async function captcha(received: Received, reply: Reply): Promise<void> {
    const foreign = parts.crossSite(received) !== undefined
    await parts.throttle.captcha({ address: received.origin.address, foreign })
    const { id, png } = await parts.issueCaptcha()
    const data = `data:image/png;base64,${png.toString('base64')}`
    replyJson(reply, 200, { code: 200, data, id, msg: 'success', requestId: received.requestId })
  }

  async function logout({ received, token }: Authorized, reply: Reply): Promise<void> {
    const from = { address: received.origin.address, userAgent: received.headers.userAgent }
    parts.record(from, nameOf(token), 'logged-out')
    const kind = received.arrival.notes.revoked === 'here' ? 'logged-out-here' : 'logged-out'
    const { text: msg, headers } = parts.messages.chosenBy(received.arrival.rawHeaders)[kind]
    const ending = token?.kind === 'user' ? await parts.endSessionUrl?.(token.id) : undefined
    const body = { code: 200, msg, ...(ending !== undefined && { logoutUrl: ending.url }) }
    replyJson(reply, 200, body, [...headers, ...parts.cookie.cleared])
  }

  async function profile({ received, token }: Authorized, reply: Reply): Promise<void> {
    // Users of other issuers have no account, and their ID may look like that of one.
    if (token?.kind === 'issuer') throw new Refusal('no-profile')
    const data = token === undefined ? undefined : await parts.readProfile(token.caller.userId)
    // The account was deleted after the token was issued.
    if (data === undefined) throw new Refusal('token-revoked', { reason: 'no such user' })
    replyJson(reply, 200, { requestId: received.requestId, code: 200, msg: 'success', data })
  }

  async function password({ received, token }: Authorized, reply: Reply): Promise<void> {
    const body = await readJson(received, reply)
    const revoked = await parts.changePassword({
      fields: () => readJsonFields(body, 'bad-password-request'),
      token,
      address: received.origin.address,
      foreign: parts.crossSite(received) !== undefined,
    })
    received.arrival.notes.revoked = revoked
    const kind = revoked === 'here' ? 'password-changed-here' : 'password-changed'
    const { text: msg, headers } = parts.messages.chosenBy(received.arrival.rawHeaders)[kind]
    replyJson(reply, 200, { code: 200, msg }, headers)
  }

  return {
    async toAnyone(received, reply) {
      switch (received.endpoint?.name) {
        case 'login':
          return login(received, reply)
        case 'captcha':
          return captcha(received, reply)
        case 'oidc-begin':
        case 'oidc-callback':
        case 'oidc-logout':
          return parts.oidc?.toAnyone(received, reply)
        case 'server':
          return replyJson(reply, 200, { code: 200, msg: 'ok' })
        case 'wrong-method':
        case undefined:
          throw wrongMethod(received)
        default:
          return parts.page?.toAnyone(received, reply)
      }
    },
    async toCaller(authorized, reply) {
      switch (authorized.received.endpoint?.name) {
        case 'logout':
          return logout(authorized, reply)
        case 'profile':
          return profile(authorized, reply)
        case 'password':
          return password(authorized, reply)
        case 'wrong-method':
        case undefined:
          throw wrongMethod(authorized.received)
        default:
          return parts.page?.toCaller(authorized, reply)
      }
    },
  }
}

async function readJson({ arrival, headers }: Received, reply: Reply): Promise<JsonBody> {
  const tooLarge = Number(headers.contentLength ?? 0) > maxJsonBytes
  if (headers.expectsContinue && !tooLarge) reply.writeContinue()
  const bytes = tooLarge ? undefined : await readBody(arrival.body, maxJsonBytes)
  return { contentType: headers.contentType, bytes }
}

/** Another issuer may give its users the name of an account of ours; their ID has a prefix. */
function nameOf(token: Authorized['token']): string {
  if (token?.kind === 'issuer') return token.caller.userId
  return token?.caller.username ?? ''
}

function wrongMethod({ endpoint }: Received): Refusal {
  return new Refusal('method-not-allowed', endpoint === undefined ? {} : { allow: endpoint.allow })
}
