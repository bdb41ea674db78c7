import { Refusal } from '../../../kernel/errors.ts'
import type { Sealing } from '../../../token/sealing.ts'
import type { BeginLogin } from '../../redirect-login.ts'
import { beginFlow, challengeOf } from './flow.ts'
import { droppedCookie, flowCookie, keptCookie, surplusCookies } from './flow-cookie.ts'
import type { OpenProvider } from './provider.ts'
import type { OidcSettings } from './settings.ts'

interface BeginParts {
  readonly settings: OidcSettings
  readonly provider: Pick<OpenProvider, 'authorizationUrl'>
  readonly sealing: Pick<Sealing, 'seal'>
  /** Seconds since the epoch. */
  readonly now: () => number
}

/** Nothing is kept here: the browser carries the login, sealed, and any replica can finish it. */
export function createBeginLogin(parts: BeginParts): BeginLogin {
  const { settings, provider, sealing, now } = parts

  return async ({ to, app, prompt, confirms, cookieNames }) => {
    const redirectUri = app === undefined ? settings.redirectUri : appRedirectUri(settings, app)
    const flow = beginFlow({ provider: settings.name, redirectUri, to, confirms }, now())
    const url = await provider.authorizationUrl({
      ...flow,
      challenge: challengeOf(flow),
      asksAgain: confirms !== undefined,
      prompt,
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
function appRedirectUri({ name, appRedirectUris }: OidcSettings, app: string | true): string {
  const found = app === true ? appRedirectUris[0] : appRedirectUris.find((one) => one === app)
  if (found !== undefined) return found
  const reason = `redirectUri is not one of appRedirectUris of provider ${name}`
  throw new Refusal('bad-login-request', { reason })
}
