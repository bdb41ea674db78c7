import { Refusal } from '../../../kernel/errors.ts'
import type { EndedSession } from '../../../token/issuers/logout-token.ts'
import type { Sealing } from '../../../token/sealing.ts'
import type { ProviderLogout } from '../../login-method.ts'
import type { ProviderSessions } from '../../redirect-login.ts'
import type { OpenProvider } from './provider.ts'
import type { OidcSettings } from './settings.ts'

interface EndSessionParts {
  readonly sealing: Pick<Sealing, 'open'>
  readonly findSession: ProviderSessions['find']
  /** By name of the provider. */
  readonly providers: ReadonlyMap<
    string,
    {
      readonly settings: Pick<OidcSettings, 'name' | 'clientId' | 'logout'>
      readonly provider: Pick<OpenProvider, 'endSessionUrl'>
    }
  >
  readonly onFailure: (error: unknown) => void
}

/**
 * Where the browser ends its session at the provider after a logout here (OpenID Connect RP-Initiated
 * Logout 1.0), or `undefined`. Never throws: the logout here has happened.
 */
export function createEndSessionUrl(parts: EndSessionParts) {
  return async (tokenId: string): Promise<ProviderLogout | undefined> => {
    try {
      const found = await parts.findSession(tokenId)
      const provider = found && parts.providers.get(found.provider)
      if (provider === undefined || !provider.settings.logout.endSession) return undefined
      const { clientId, logout } = provider.settings
      const opened = found?.sealed == null ? undefined : await parts.sealing.open(found.sealed)
      const hint = opened?.['idToken']
      const url = await provider.provider.endSessionUrl({
        client_id: clientId,
        ...(typeof hint === 'string' && { id_token_hint: hint }),
        ...(logout.postLogoutRedirectUri !== undefined && {
          post_logout_redirect_uri: logout.postLogoutRedirectUri,
        }),
      })
      return url === undefined ? undefined : { provider: provider.settings.name, url }
    } catch (error) {
      parts.onFailure(error)
      return undefined
    }
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
