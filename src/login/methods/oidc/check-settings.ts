import type { DeepPartial } from '../../../kernel/deep-partial.ts'
import { oidcPaths } from '../../../kernel/endpoints.ts'
import { keyUrlProblem } from '../../../kernel/key-url.ts'
import { MASK, subject } from '../../../kernel/quote.ts'
import { passwordMethodName } from '../../login-method.ts'
import type { Say } from '../../method-kind.ts'
import type { OidcLogin, OidcSettings } from './settings.ts'

type ProviderDraft = DeepPartial<OidcSettings>

/** Every provider has its own name, a usable callback, and settings that fit together. */
export function checkOidc({ oidc }: DeepPartial<OidcLogin>, sayOfLogin: Say): void {
  const first = new Map<string, string>()
  oidc?.forEach((each, index) => {
    if (each === undefined) return
    const say: Say = (key, problem) => sayOfLogin(`oidc[${index}].${key}`, problem)
    checkName(each, `login.oidc[${index}]`, first, say)
    checkUrls(each, say)
    checkClient(each, say)
    checkAccounts(each, say)
    checkLogout(each, say)
  })
}

function checkName({ name }: ProviderDraft, at: string, first: Map<string, string>, say: Say) {
  if (name === undefined) return
  const same = name === passwordMethodName ? 'the login by password' : first.get(name)
  if (same !== undefined)
    say('name', `: ${subject(name)} is already the name of ${same}; use another`)
  first.set(name, at)
}

function checkUrls({ name, issuer, redirectUri, appRedirectUris }: ProviderDraft, say: Say): void {
  const problem = issuer === undefined ? undefined : keyUrlProblem(issuer)
  if (problem !== undefined) say('issuer', ` ${problem}`)
  else if (issuer?.includes('?')) say('issuer', ' must not contain a query; remove it')

  if (redirectUri !== undefined && name !== undefined) {
    const { callback } = oidcPaths(name)
    const wrong = redirectProblem(redirectUri)
    if (wrong !== undefined) say('redirectUri', ` ${wrong}`)
    else if (!URL.parse(redirectUri)?.pathname.endsWith(callback)) {
      say('redirectUri', ` must end with ${callback}, where Postern answers it`)
    }
  }
  appRedirectUris?.forEach((uri, index) => {
    const wrong = uri === undefined ? undefined : redirectProblem(uri)
    if (wrong !== undefined) say(`appRedirectUris[${index}]`, ` ${wrong}`)
  })
}

function redirectProblem(uri: string): string | undefined {
  return (
    keyUrlProblem(uri) ?? (uri.includes('?') ? 'must not contain a query; remove it' : undefined)
  )
}

function checkClient(each: ProviderDraft, say: Say): void {
  const { clientAuth, clientSecret, clientSecretFile, scopes } = each
  const hasSecret = clientSecret !== undefined || clientSecretFile !== undefined
  if (clientSecret === MASK) {
    say('clientSecret', ' is the mask of "config print", not a secret: set clientSecretFile')
  } else if (clientSecret !== undefined && clientSecretFile !== undefined) {
    say('clientSecret', ' and clientSecretFile cannot be combined; keep one')
  } else if (clientAuth === 'none' && hasSecret) {
    say('clientAuth', ' is "none", so the client secret would not be used; remove one of them')
  } else if (clientAuth !== 'none' && !hasSecret) {
    say('clientSecretFile', ' is required: give the client secret, or set clientAuth to none')
  }
  // Without it the provider sends no ID token (OpenID Connect Core 3.1.2.1).
  if (scopes !== undefined && !scopes.includes('openid')) say('scopes', ' must contain openid')
}

function checkAccounts({ roles, create }: ProviderDraft, say: Say): void {
  if (create && roles === undefined) {
    say('create', ' is true, so roles is required: a new account needs a role')
  }
  const seen = new Map<string, number>()
  roles?.forEach((each, index) => {
    if (each?.value === undefined) return
    const same = seen.get(each.value)
    if (same !== undefined) {
      const already = `${subject(each.value)} is already that of roles[${same}]`
      say(`roles[${index}].value`, `: ${already}, which wins; remove one`)
    }
    seen.set(each.value, same ?? index)
  })
}

function checkLogout({ logout }: ProviderDraft, say: Say): void {
  const uri = logout?.postLogoutRedirectUri
  if (uri === undefined) return
  const problem = keyUrlProblem(uri)
  if (problem !== undefined) say('logout.postLogoutRedirectUri', ` ${problem}`)
  else if (logout?.endSession === false) {
    say('logout.postLogoutRedirectUri', ' is only used with logout.endSession; set that to true')
  }
}
