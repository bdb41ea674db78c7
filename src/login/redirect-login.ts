import type { TokenRevocation } from '../token/revocations.ts'
import type { ProviderLogout } from './login-method.ts'

/** Logins and logouts at providers that browsers are redirected to. */
export interface Redirects {
  /** The links of login pages. */
  readonly buttons: readonly LoginButton[]
  /** How logins begin, by name of the provider. */
  readonly begin: ReadonlyMap<string, BeginLogin>
  /** What the browser that began the login of this state wants with it. Whether it may is not checked. */
  readonly purposeOf: (
    state: string,
    cookie: (name: string) => string | undefined,
  ) => Promise<{ readonly to: string; readonly confirms: string | undefined }>
  /** Ends the sessions that a logout token names, by name of the provider that sends it. */
  readonly endSessions: ReadonlyMap<string, EndSessions>
  /**
   * Where the session of a token ends at its provider, too. Does not throw. Absent: nowhere, so that a
   * logout asks no database.
   */
  readonly endSessionUrl: ((tokenId: string) => Promise<ProviderLogout | undefined>) | undefined
}

/** Begins a login with this provider at this path. */
export interface LoginButton {
  readonly name: string
  readonly path: string
  /** What people call it. */
  readonly label: string
  /** The file of its picture. */
  readonly icon?: string | undefined
}

/** What a provider must ask for although the person is logged in there (OpenID Connect Core 3.1.2.1). */
export type OidcPrompt = 'login' | 'select_account'

/** Throws the Refusal `bad-logout-token`. Returns how many tokens were revoked. */
export type EndSessions = (logoutToken: string) => Promise<number>

interface BeginRequest {
  /** The path of ours that the browser goes to after the login. */
  readonly to: string
  /** Where a single-page application gets the answer, `true` for the first configured. Absent: our callback. */
  readonly app?: string | true | undefined
  /** Beside that of the settings, which no request can take away. */
  readonly prompt?: OidcPrompt | undefined
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

/** A token of ours, and the session at a provider that it came from. Times are milliseconds. */
export interface ProviderSessionRow {
  readonly tokenId: string
  readonly userId: string
  readonly issuedAt: number
  readonly expiresAt: number
  readonly provider: string
  readonly subject: string
  readonly session: string | undefined
  /** The sealed ID token, which names the session at logout. */
  readonly sealed: string | undefined
}

interface NamedSession {
  readonly provider: string
  readonly subject: string | undefined
  readonly session: string | undefined
}

/** Every method but `remember` throws a Fault when it fails. */
export interface ProviderSessions {
  /** Stores a row beside the login, which does not wait for it. */
  remember(row: ProviderSessionRow): Promise<void>
  /** The session of a token, if it came from a provider. */
  find(
    tokenId: string,
  ): Promise<{ readonly provider: string; readonly sealed: string | null } | undefined>
  /** The tokens of one session, or of every session of a person if the session is not named. */
  tokensOf(session: NamedSession): Promise<readonly TokenRevocation[]>
}
