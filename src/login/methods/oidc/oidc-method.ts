import { Refusal } from '../../../kernel/errors.ts'
import { type ClaimPicker, vouchedClaim } from '../../../token/carried-claims.ts'
import type { Sealing } from '../../../token/sealing.ts'
import type { Fields } from '../../fields.ts'
import type { LinkedAccounts } from '../../linked-account.ts'
import type { LoginAttempt } from '../../login-attempt.ts'
import type { LoginMethod, Verified } from '../../login-method.ts'
import { providerRefused } from './exchange-failure.ts'
import { readFlow } from './flow.ts'
import { droppedCookie, flowCookie, flowSeconds } from './flow-cookie.ts'
import { checkIdToken } from './id-token-checks.ts'
import type { OpenProvider } from './provider.ts'
import { readIdentity } from './read-identity.ts'
import type { OidcSettings } from './settings.ts'

interface OidcMethodParts {
  readonly settings: OidcSettings
  readonly provider: Pick<OpenProvider, 'exchange'>
  readonly sealing: Pick<Sealing, 'open'>
  /** Whether this is the first claim of a name, on whichever gateway. */
  readonly claim: (name: string, untilMs: number) => Promise<boolean>
  readonly signIn: LinkedAccounts['signIn']
  readonly pick: ClaimPicker['pick']
  /** Seconds since the epoch. */
  readonly now: () => number
  /** Counts logins by result: `logged-in`, the kind of a Refusal, or `unavailable`. */
  readonly onResult: (result: string) => void
}

/** What a browser brings back from the provider (RFC 6749 4.1.2). */
interface Answer {
  readonly state: string
  readonly code: string | undefined
  readonly iss: string | undefined
  readonly error: string | undefined
}

/**
 * Login with an authorization code of an OpenID Connect provider. Without captcha and one-time code: codes
 * cannot be guessed, and the provider asks for what it considers necessary.
 */
export function createOidcMethod(parts: OidcMethodParts): LoginMethod {
  const { settings, provider, sealing, claim, signIn, pick, now, onResult } = parts
  const { name, create, linkByUsername, roles, claims: names } = settings
  // The claims that every method has.
  const standard = new Map([
    ['groups', names.groups],
    ['email', names.email],
    ['name', names.displayName],
  ])

  async function verify(answer: Answer, cookie: string | undefined): Promise<Verified> {
    const { state, code, iss, error } = answer
    const flow = await readFlow(sealing, cookie, { provider: name, state, now: now() })
    const untilMs = (flow.startedAt + flowSeconds) * 1000
    // Before the code is used: a second answer with this state must not get that far.
    if (!(await claim(`oidc state ${state}`, untilMs))) {
      throw new Refusal('login-expired', { reason: 'its state was used before' })
    }
    if (error !== undefined) throw providerError(error)
    if (code === undefined) throw new Refusal('login-expired', { reason: 'code is missing' })

    const confirmed = await provider.exchange({ ...flow, code, iss })
    checkIdToken(confirmed, settings, {
      ...{ startedAt: flow.startedAt, now: now() },
      asksAgain: flow.confirms !== undefined,
    })
    const identity = readIdentity(confirmed.claims, settings)
    const syncRole = roles !== undefined
    const verified = await signIn(identity, {
      ...{ create, linkByUsername, syncRole, skipsSecondFactor: true },
    })
    const { sid } = confirmed.claims
    const session = typeof sid === 'string' && sid.length <= 255 ? sid : undefined
    const { subject } = identity
    const providerSession = { provider: name, subject, session, idToken: confirmed.idToken }
    const claims = pick(identity.username, (claim) =>
      vouchedClaim(confirmed.claims, standard.get(claim) ?? claim),
    )
    return { ...verified, ...claims, providerSession }
  }

  return {
    name,
    captcha: false,
    secondFactor: false,
    bind(fields, attempt) {
      const answer = readAnswer(fields)
      const cookie = takeCookie(answer, attempt, settings)
      return {
        name: undefined,
        verify: () => counted(verify(answer, cookie), onResult),
      }
    },
  }
}

function readAnswer(fields: Fields): Answer {
  const state = fields.optionalText('state', 128)
  if (state === undefined) throw new Refusal('login-expired', { reason: 'state is missing' })
  return {
    state,
    code: fields.optionalText('code', 8192),
    iss: fields.optionalText('iss', 1024),
    error: fields.optionalText('error', 128),
  }
}

/** Whatever becomes of this login, its cookie is of no more use. */
function takeCookie(
  { state }: Answer,
  attempt: LoginAttempt,
  settings: OidcSettings,
): string | undefined {
  const name = flowCookie(state)
  const cookie = attempt.cookie(name)
  if (cookie !== undefined) attempt.setCookie?.(droppedCookie(settings, name))
  return cookie
}

/** `access_denied`: the person did not log in there. Others are the provider's own trouble, or ours. */
function providerError(error: string): Refusal {
  const isCode = /^[a-z_]{1,64}$/.test(error)
  return providerRefused(`the provider answered ${isCode ? error : 'with an error'}`)
}

async function counted<Result>(work: Promise<Result>, onResult: (result: string) => void) {
  try {
    const result = await work
    onResult('logged-in')
    return result
  } catch (error) {
    onResult(error instanceof Refusal ? error.kind : 'unavailable')
    throw error
  }
}
