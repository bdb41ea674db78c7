import { failureText } from '../../../background/failure-text.ts'
import { createDerivedKeys } from '../../../token/derived-keys.ts'
import { verifyLogoutToken } from '../../../token/issuers/logout-token.ts'
import type { TokenRevocation } from '../../../token/revocations.ts'
import { createSealing } from '../../../token/sealing.ts'
import type { OnIssued } from '../../login.ts'
import type { MethodParts } from '../../method-kind.ts'
import type { EndSessions } from '../../redirect-login.ts'
import type { OpenProvider } from './provider.ts'
import { createBackChannelLogout, createEndSessionUrl } from './provider-logouts.ts'
import type { OidcSettings } from './settings.ts'

interface ConfiguredProvider {
  readonly settings: OidcSettings
  readonly provider: OpenProvider
}

/** A larger ID token is not stored; the provider then asks whose session to end. */
const maxIdToken = 16_384
const maxSealed = 32_768

/** Logouts that begin here and end the session at the provider, and the other way around. */
export function openLogouts(all: readonly ConfiguredProvider[], parts: MethodParts) {
  const { log, now, claim, providerSessions, endToken, recordEnded } = parts
  const sealing = createSealing(createDerivedKeys(parts.keys, 'oidc-session'), maxSealed)
  const logoutOf = new Map(all.map(({ settings }) => [settings.name, settings.logout]))

  const onIssued: OnIssued = ({ id, issuedAt, expiresAt }, { caller, providerSession }) => {
    if (providerSession === undefined) return
    const logout = logoutOf.get(providerSession.provider)
    if (!logout?.endSession && !logout?.backChannel) return
    const { idToken, ...session } = providerSession
    const keepsToken = logout.endSession && idToken.length <= maxIdToken
    const sealed = keepsToken ? sealing.seal({ idToken }) : Promise.resolve(undefined)
    const token = { tokenId: id, userId: caller.userId, issuedAt, expiresAt: expiresAt.getTime() }
    void sealed
      .catch(() => undefined)
      .then((text) => providerSessions.remember({ ...token, ...session, sealed: text }))
  }

  const endSessions = all
    .filter(({ settings }) => settings.logout.backChannel)
    .map(({ settings, provider }): readonly [string, EndSessions] => [
      settings.name,
      createBackChannelLogout<TokenRevocation>({
        provider: settings.name,
        verify: (text) => verifyLogoutToken(text, { ...settings, ...provider, now }),
        claim,
        tokensOf: providerSessions.tokensOf,
        revoke: endToken,
        record: (tokens) => recordEnded(settings.name, tokens),
      }),
    ])

  const hasEndSession = all.some(({ settings }) => settings.logout.endSession)
  return {
    onIssued,
    endSessions: new Map(endSessions),
    endSessionUrl: hasEndSession
      ? createEndSessionUrl({
          sealing,
          findSession: providerSessions.find,
          providers: new Map(all.map((each) => [each.settings.name, each])),
          onFailure: (error) =>
            log.warn({ reason: failureText(error) }, 'logout without the URL of the provider'),
        })
      : undefined,
  }
}
