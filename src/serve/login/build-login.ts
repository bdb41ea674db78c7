import { createReturns } from '../../admission/return-addresses.ts'
import type { FindCrossSite } from '../../gateway/cross-site.ts'
import { createOidcResponses } from '../../http/oidc/oidc-responses.ts'
import { createOwnResponses } from '../../http/own-responses.ts'
import type { TokenCookie } from '../../http/token-cookie.ts'
import { createChangePassword } from '../../login/change-password.ts'
import type { Messages } from '../../messages/messages.ts'
import { createOwnPasswords } from '../../stores/accounts/own-password.ts'
import type { Tokens, VerifiedToken } from '../../token/tokens.ts'
import type { Assembly } from '../assembly.ts'
import type { ServeOptions } from '../options.ts'
import { buildPage, type ResponseSettings } from './build-page.ts'
import { openLogin } from './open-login.ts'

/** The gateway's own endpoints: login, captcha, logout, profile, password and the login page. */
export async function buildLogin(
  options: ServeOptions,
  facts: Parameters<typeof openLogin>[1] & {
    readonly tokens: Tokens
    readonly cookie: TokenCookie
    readonly crossSite: FindCrossSite
    /** Revokes every token of the user but this one. */
    readonly revokeOthers: (token: VerifiedToken) => Promise<'everywhere' | 'here'>
  },
  assembly: Assembly,
) {
  const { config } = options
  const opened = await openLogin(options, facts, assembly)
  const { accounts, captchas, database, loginLog, methods, passwordHash, throttle } = opened
  const ownPasswords = createOwnPasswords(database, opened.timeoutMs)
  const login = opened.loginWith({ issueToken: facts.tokens.issue })
  const { redirects } = methods
  const pageWith = await buildPage(config, methods)
  /** For each configuration anew. */
  const responsesWith = (current: ResponseSettings & { readonly messages: Messages }) => {
    const common = {
      login,
      changePassword: createChangePassword({
        throttle,
        local: config.login.local,
        findAccount: ownPasswords.find,
        passwordHash,
        replacePassword: ownPasswords.replace,
        revokeOthers: facts.revokeOthers,
      }),
      throttle,
      record: loginLog.record,
      cookie: facts.cookie,
      crossSite: facts.crossSite,
      messages: current.messages,
      endSessionUrl: redirects?.endSessionUrl,
    }
    return createOwnResponses({
      ...common,
      oidc:
        redirects &&
        createOidcResponses({
          ...{ ...common, ...redirects, strictCookie: config.cookie.sameSite === 'strict' },
          returns: createReturns(config.login.page),
        }),
      issueCaptcha: captchas.issue,
      readProfile: accounts.profile,
      page: pageWith?.(current, {
        ...common,
        hasPassword: (userId) =>
          ownPasswords.find(userId).then(
            (account) => account?.hasPassword === true,
            () => false,
          ),
        verifyToken: facts.tokens.verify,
        captchas: facts.captchaRequired ? captchas : undefined,
      }),
    })
  }

  return { responsesWith, firstAccounts: opened.firstAccounts, sessions: opened.sessions }
}
