import { failureText } from '../../background/failure-text.ts'
import type { EndSessions } from '../../http/oidc/back-channel.ts'
import type { Log } from '../../log/log.ts'
import type { OnIssued } from '../../login/login.ts'
import type { OpenProvider } from '../../login/methods/oidc/provider.ts'
import {
  createBackChannelLogout,
  createEndSessionUrl,
  type LogoutSettings,
} from '../../login/methods/oidc/provider-logouts.ts'
import { recordChange } from '../../stores/audit/audit.ts'
import { gatewayActor } from '../../stores/audit/gateway-actor.ts'
import type { Database } from '../../stores/database/database.ts'
import { createProviderSessions } from '../../stores/identities/provider-sessions.ts'
import type { UsedOnce } from '../../stores/identities/used-once.ts'
import type { OpenKeys } from '../../stores/keys/key-feed.ts'
import type { SessionRecorder } from '../../stores/sessions/session-recorder.ts'
import { createDerivedKeys } from '../../token/derived-keys.ts'
import type { IssuerAlgorithm } from '../../token/issuers/issuer.ts'
import { verifyLogoutToken } from '../../token/issuers/logout-token.ts'
import type { TokenRevocation } from '../../token/revocations.ts'
import { createSealing } from '../../token/sealing/sealing.ts'

interface LogoutParts {
  readonly open: readonly {
    readonly settings: LogoutSettings & {
      readonly issuer: string
      readonly idTokenAlgorithm: IssuerAlgorithm
    }
    readonly provider: OpenProvider
  }[]
  readonly database: Database
  readonly keys: OpenKeys['current']
  readonly usedOnce: UsedOnce
  readonly sessions: SessionRecorder
  readonly revokeToken: (revocation: TokenRevocation) => Promise<unknown>
  readonly timeoutMs: number
  readonly log: Log
  readonly now: () => number
}

/** A larger ID token is not stored; the provider then asks whose session to end. */
const maxIdToken = 16_384
const maxSealed = 32_768

/** Logouts that begin here and end the session at the provider, and the other way around. */
export function buildOidcLogouts(parts: LogoutParts) {
  const { open, database, log, timeoutMs, now } = parts
  const sealing = createSealing(createDerivedKeys(parts.keys, 'oidc-session'), maxSealed)
  const rows = createProviderSessions(database, { log, timeoutMs })
  const logoutOf = new Map(open.map(({ settings }) => [settings.name, settings.logout]))

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
      .then((text) => rows.remember({ ...token, ...session, sealed: text }))
  }

  const record = (provider: string) => (tokens: readonly TokenRevocation[]) =>
    recordChange(database, {
      actor: gatewayActor(),
      action: 'session.end',
      subject: `provider ${provider}`,
      after: { userIds: [...new Set(tokens.map(({ userId }) => userId))], tokens: tokens.length },
    }).catch((error: unknown) => {
      log.warn(
        { provider, reason: failureText(error) },
        'logout of a provider not in the audit log',
      )
    })

  const endSessions = open
    .filter(({ settings }) => settings.logout.backChannel)
    .map(({ settings, provider }): readonly [string, EndSessions] => [
      settings.name,
      createBackChannelLogout<TokenRevocation>({
        provider: settings.name,
        verify: (text) => verifyLogoutToken(text, { ...settings, ...provider, now }),
        claim: parts.usedOnce.claim,
        tokensOf: rows.tokensOf,
        revoke(token) {
          parts.sessions.ended(token)
          return parts.revokeToken(token)
        },
        record: record(settings.name),
      }),
    ])

  const hasEndSession = open.some(({ settings }) => settings.logout.endSession)
  return {
    onIssued,
    endSessions: new Map(endSessions),
    /** `undefined` if no provider has it: a logout then asks no database. */
    endSessionUrl: hasEndSession
      ? createEndSessionUrl({
          sealing,
          findSession: rows.find,
          providers: new Map(
            open.map(({ settings, provider }) => {
              return [settings.name, { settings, endSessionUrl: provider.endSessionUrl }]
            }),
          ),
          onFailure: (error) =>
            log.warn({ reason: failureText(error) }, 'logout without the URL of the provider'),
        })
      : undefined,
  }
}
