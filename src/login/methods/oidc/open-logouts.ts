import { failureText } from '../../../background/failure-text.ts'
import { Refusal } from '../../../kernel/errors.ts'
import { createDerivedKeys } from '../../../token/derived-keys.ts'
import { type EndedSession, verifyLogoutToken } from '../../../token/issuers/logout-token.ts'
import type { TokenRevocation } from '../../../token/revocations.ts'
import { createSealing } from '../../../token/sealing.ts'
import type { OnIssued } from '../../login.ts'
import type { ProviderLogout } from '../../login-method.ts'
import type { MethodParts } from '../../method-kind.ts'
import type { EndSessions } from '../../redirect-login.ts'
import type { OpenProvider } from './provider.ts'
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

  /**
   * Where the browser ends its session at the provider after a logout here (OpenID Connect RP-Initiated
   * Logout 1.0), or `undefined`. Never throws: the logout here has happened.
   */
  async function endSessionUrl(tokenId: string): Promise<ProviderLogout | undefined> {
    try {
      const found = await providerSessions.find(tokenId)
      const ended = all.find(({ settings }) => settings.name === found?.provider)
      if (!ended?.settings.logout.endSession) return undefined
      const { clientId, logout, name, label = name } = ended.settings
      const opened = found?.sealed == null ? undefined : await sealing.open(found.sealed)
      const hint = opened?.['idToken']
      const url = await ended.provider.endSessionUrl({
        client_id: clientId,
        ...(typeof hint === 'string' && { id_token_hint: hint }),
        ...(logout.postLogoutRedirectUri !== undefined && {
          post_logout_redirect_uri: logout.postLogoutRedirectUri,
        }),
      })
      return url === undefined ? undefined : { provider: label, url }
    } catch (error) {
      log.warn({ reason: failureText(error) }, 'logout without the URL of the provider')
      return undefined
    }
  }

  const hasEndSession = all.some(({ settings }) => settings.logout.endSession)
  return {
    onIssued,
    endSessions: new Map(endSessions),
    endSessionUrl: hasEndSession ? endSessionUrl : undefined,
  }
}

interface EndedToken {
  readonly id: string
  readonly userId: string
}

interface BackChannelParts<Token extends EndedToken> {
  readonly provider: string
  readonly verify: (logoutToken: string) => Promise<EndedSession>
  readonly claim: (name: string, untilMs: number) => Promise<boolean>
  readonly tokensOf: (
    ended: Pick<EndedSession, 'subject' | 'session'> & { readonly provider: string },
  ) => Promise<readonly Token[]>
  readonly revoke: (token: Token) => Promise<unknown>
  /** Appends to the audit log. */
  readonly record: (tokens: readonly Token[]) => Promise<void>
}

/** Ends here what ended at the provider. Returns how many tokens were revoked. */
export function createBackChannelLogout<Token extends EndedToken>(parts: BackChannelParts<Token>) {
  return async (logoutToken: string): Promise<number> => {
    const ended = await parts.verify(logoutToken)
    const { provider } = parts
    // Before the claim: a provider repeats what failed, and its token must then still be good.
    const tokens = await parts.tokensOf({ ...ended, provider })
    // A token that is replayed later would end a session that began since.
    if (!(await parts.claim(`oidc logout ${provider} ${ended.tokenId}`, ended.expiresAt * 1000))) {
      throw new Refusal('bad-logout-token', { reason: 'it was used before' })
    }
    for (const token of tokens) await parts.revoke(token)
    if (tokens.length > 0) await parts.record(tokens)
    return tokens.length
  }
}
