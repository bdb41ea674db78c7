import type { Returns } from '../admission/return-addresses.ts'
import type { FindCrossSite } from '../gateway/cross-site.ts'
import type { TokenCookie } from '../http/token-cookie.ts'
import type { OfferedCaptcha } from '../login/captcha/captcha.ts'
import type { ChangePassword } from '../login/change-password.ts'
import type { Login } from '../login/login.ts'
import type { RecordAttempt } from '../login/login-log.ts'
import type { LoginButton, Redirects } from '../login/redirect-login.ts'
import type { Throttle } from '../login/throttle.ts'
import type { VerifyToken } from '../token/tokens.ts'
import type { Explain } from './explain.ts'
import type { Language } from './language.ts'
import type { PageFile } from './reply-page.ts'

interface PageCaptchas {
  offer(): Promise<OfferedCaptcha>
  /** `undefined` for a captcha that was not offered, or too long ago. */
  picture(sealed: string): Promise<Buffer | undefined>
  recording(sealed: string, language: Language): Promise<Buffer | undefined>
}

export interface PageParts {
  readonly settings: {
    readonly path: string
    readonly title?: string | undefined
    readonly afterLogin: string
    readonly returns: Returns
    /** For readers whose browser asks for none that the page has. */
    readonly language: Language
  }
  readonly logo: PageFile | undefined
  /** Pictures of providers, by the name of their file. */
  readonly icons: readonly (readonly [string, PageFile])[]
  readonly form: {
    /** Whether names and passwords log in. */
    readonly hasPassword: boolean
    /** Logins elsewhere, in the order of the configuration. */
    readonly buttons: readonly LoginButton[]
    readonly hasDigitsOnly: boolean
    /** Whether the form asks everyone for a one-time code. */
    readonly hasSecondFactor: boolean
  }
  /** Which of the pages for logged-in callers exist. */
  readonly pages: { readonly password: boolean; readonly logout: boolean }
  readonly login: Login
  readonly changePassword: ChangePassword
  /** Absent in modes without captcha. */
  readonly captchas: PageCaptchas | undefined
  readonly throttle: Throttle
  readonly verifyToken: VerifyToken
  readonly record: RecordAttempt
  readonly cookie: TokenCookie
  /** Whether this user has a password here. Does not throw. */
  readonly hasPassword: (userId: string) => Promise<boolean>
  readonly crossSite: FindCrossSite
  readonly explain: Explain
  /** Where the session at an identity provider ends too. Does not throw. */
  readonly endSessionUrl?: Redirects['endSessionUrl']
}
