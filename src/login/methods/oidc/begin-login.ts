import { Refusal } from '../../../kernel/errors.ts'
import type { Sealing } from '../../../token/sealing/sealing.ts'
import { beginFlow, challengeOf } from './flow.ts'
import { droppedCookie, flowCookie, keptCookie, surplusCookies } from './flow-cookie.ts'
import type { IdentityProvider, ProviderSettings } from './identity-provider.ts'

interface BeginParts {
  readonly settings: ProviderSettings
  readonly provider: Pick<IdentityProvider, 'authorizationUrl'>
  readonly sealing: Pick<Sealing, 'seal'>
  /** Seconds since the epoch. */
  readonly now: () => number
}

interface BeginRequest {
  /** The path of ours that the browser goes to after the login. */
  readonly to: string
  /** Where a single-page application gets the answer, `true` for the first configured. Absent: our callback. */
  readonly app?: string | true | undefined
  /** What this login confirms. Absent: nothing, and the provider may use a session of its own. */
  readonly confirms?: string | undefined
  /** The names of the cookies that the browser sent. */
  readonly cookieNames: readonly string[]
}

/** A begun login: where the browser goes, and the cookies that bind the answer to it. */
interface BegunLogin {
  readonly url: string
  readonly cookies: readonly string[]
}

export type BeginLogin = (request: BeginRequest) => Promise<BegunLogin>

/** Nothing is kept here: the browser carries the login, sealed, and any replica can finish it. */
export function createBeginLogin(parts: BeginParts): BeginLogin {
  const { settings, provider, sealing, now } = parts

  return async ({ to, app, confirms, cookieNames }) => {
    const redirectUri = app === undefined ? settings.redirectUri : appRedirectUri(settings, app)
    const flow = beginFlow({ provider: settings.name, redirectUri, to, confirms }, now())
    const url = await provider.authorizationUrl({
      ...flow,
      challenge: challengeOf(flow),
      asksAgain: confirms !== undefined,
    })
    const sealed = await sealing.seal({ ...flow })
    return {
      url,
      cookies: [
        keptCookie(settings, flowCookie(flow.state), sealed),
        ...surplusCookies(cookieNames).map((name) => droppedCookie(settings, name)),
      ],
    }
  }
}

/** Only a configured one: a code that is sent elsewhere is a login for someone else. */
function appRedirectUri({ name, appRedirectUris }: ProviderSettings, app: string | true): string {
  const found = app === true ? appRedirectUris[0] : appRedirectUris.find((one) => one === app)
  if (found !== undefined) return found
  const reason = `redirectUri is not one of appRedirectUris of provider ${name}`
  throw new Refusal('bad-login-request', { reason })
}
