import type { Returns } from '../../admission/return-addresses.ts'
import { addressWithoutToken, readCookie } from '../../gateway/carriers.ts'
import type { FindCrossSite } from '../../gateway/cross-site.ts'
import type { OwnResponses } from '../../gateway/pipeline.ts'
import type { Reply } from '../../gateway/reply.ts'
import type { Received } from '../../gateway/stages.ts'
import { Refusal } from '../../kernel/errors.ts'
import { Fields } from '../../login/fields.ts'
import type { Login } from '../../login/login.ts'
import { flowCookie } from '../../login/methods/oidc/flow-cookie.ts'
import type { BeginLogin, OidcPrompt, Redirects } from '../../login/redirect-login.ts'
import { replyJson } from '../json-reply.ts'
import { attemptCookies, loginResult } from '../login-result.ts'
import { redirect } from '../redirect-reply.ts'
import type { TokenCookie } from '../token-cookie.ts'
import { moveOn } from './after-login.ts'
import { replyBackChannel } from './back-channel.ts'

interface OidcResponseParts extends Pick<Redirects, 'begin' | 'purposeOf' | 'endSessions'> {
  readonly login: Login
  readonly cookie: TokenCookie
  readonly crossSite: FindCrossSite
  /** Whether browsers send our cookie only within our site (`cookie.sameSite: strict`). */
  readonly strictCookie: boolean
  readonly returns: Returns
}

const prompts: readonly OidcPrompt[] = ['login', 'select_account']

/** It fits into a cookie with everything else. */
const maxReturnAddress = 1024

/** Logins with an OpenID Connect provider, from the first redirect to the last. */
export function createOidcResponses(parts: OidcResponseParts): Pick<OwnResponses, 'toAnyone'> {
  async function begin(received: Received, reply: Reply): Promise<void> {
    const query = new URLSearchParams(received.query)
    const isApp = query.get('mode') === 'json'
    const begun = await beginOf(received)({
      to: returnOf(query.get('to') ?? ''),
      prompt: prompts.find((prompt) => prompt === query.get('prompt')),
      app: isApp ? (query.get('redirectUri') ?? true) : undefined,
      cookieNames: cookieNames(received),
    })
    const cookies = begun.cookies.flatMap((cookie) => ['Set-Cookie', cookie])
    if (isApp) replyJson(reply, 200, { code: 200, msg: 'success', url: begun.url }, cookies)
    else redirect(reply, 302, begun.url, cookies)
  }

  /** Every other address would make us an open redirector (CWE-601). */
  function returnOf(to: string): string {
    const address = to.length > maxReturnAddress ? undefined : parts.returns.read(to)
    return addressWithoutToken(address ?? '/')
  }

  function beginOf({ endpoint }: Received): BeginLogin {
    const found = parts.begin.get(endpoint?.provider ?? '')
    if (found === undefined) throw new Refusal('no-such-provider')
    return found
  }

  async function callback(received: Received, reply: Reply): Promise<void> {
    const { setCookie, cookies } = attemptCookies(reply)
    const cookie = (name: string) => readCookie(received, name)
    const state = new URLSearchParams(received.query).get('state') ?? ''
    // A provider is another site. Only the cookie of the login shows that this browser began it here:
    // without it, any page could use up the attempts of its visitors' address.
    const isBegunHere = cookie(flowCookie(state)) !== undefined
    const { to } = await parts.purposeOf(state, cookie)
    if (to !== '/') received.arrival.notes.returnTo = to
    const issued = await parts.login({
      fields: () => answerFields(received),
      ...{ cookie, setCookie, address: received.origin.address },
      userAgent: received.headers.userAgent,
      foreign: !isBegunHere && parts.crossSite(received) !== undefined,
    })
    const token = parts.cookie.issued(issued.token)
    const headers = [...token, ...cookies]
    if (token.length === 0) return replyJson(reply, 200, loginResult(issued), headers)
    if (parts.strictCookie) moveOn(reply, to, headers)
    else redirect(reply, 303, to, headers)
  }

  return {
    async toAnyone(received, reply) {
      if (received.endpoint?.name === 'oidc-begin') return begin(received, reply)
      if (received.endpoint?.name === 'oidc-callback') return callback(received, reply)
      const end = parts.endSessions.get(received.endpoint?.provider ?? '')
      if (end === undefined) throw new Refusal('no-such-provider')
      return replyBackChannel(received, reply, end)
    },
  }
}

/** A parameter that comes twice could be read in two ways (RFC 6749 3.1). */
function answerFields({ query, endpoint }: Received): Fields {
  const parameters = [...new URLSearchParams(query)]
  if (new Set(parameters.map(([name]) => name)).size < parameters.length) {
    throw new Refusal('bad-login-request', { reason: 'a parameter comes twice' })
  }
  return new Fields('bad-login-request', [...parameters, ['provider', endpoint?.provider]])
}

function cookieNames({ headers }: Received): readonly string[] {
  return headers.cookies
    .flatMap((cookie) => cookie.split(';'))
    .map((pair) => pair.split('=', 1)[0]?.trim() ?? '')
}
