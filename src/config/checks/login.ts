import { createReturns } from '../../admission/return-addresses.ts'
import { subject } from '../../kernel/quote.ts'
import type { Say } from '../../login/method-kind.ts'
import { loginMethods } from '../../login/methods/login-methods.ts'
import { namedProviders } from '../login-providers.ts'
import { modeFacts } from '../mode.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'
import { OWN_ENDPOINTS, pathProblem } from './forwarding/routes.ts'

/** What each method wants of its settings, and that they can be told apart. */
export function checkLoginMethods({ login = {} }: Draft, report: Report): void {
  const say: Say = (setting, problem) => report.firstProblem(`login.${setting}`, problem)
  for (const { check } of loginMethods) check?.(login, say)
  checkLocal(login, report, say)
  checkNames(login, say)
}

type LoginDraft = NonNullable<Draft['login']>

/** Without own passwords and without another method, every login would be refused. */
function checkLocal(login: LoginDraft, report: Report, say: Say): void {
  const others = loginMethods.filter(({ setting }) => setting !== undefined)
  if (login.local !== false || others.some(({ isConfigured }) => isConfigured(login))) return
  const settings = others.map(({ setting }) => `login.${setting}`)
  if (settings.some((at) => report.hasProblem(at))) return
  const listed = `${settings.slice(0, -1).join(', ')} or ${settings.at(-1)}`
  say('local', ` is false, so another login method is required: set ${listed}`)
}

/** `user link --provider` and the links of accounts tell methods apart by their names. */
function checkNames(login: LoginDraft, say: Say): void {
  const all = namedProviders(login)
  for (const [index, { name, setting }] of all.entries()) {
    const other = all.slice(0, index).find((each) => name !== undefined && each.name === name)
    if (other === undefined) continue
    const taken = `${subject(name)} is already the name of login.${other.setting}`
    say(`${setting}.name`, `: ${taken}; use another name`)
  }
}

/** The page has a path of its own and logs in by cookie. */
export function checkLoginPage({ application, login, cookie, pages }: Draft, report: Report): void {
  const page = login?.page
  const say = (at: string, problem: string) => report.firstProblem(at, problem)
  if (page?.enabled === false) {
    for (const name of Object.keys(pages ?? {})) {
      say(`pages.${name}`, ' needs login.page.enabled: true, which serves these pages')
    }
  }
  if (page?.enabled !== true) return

  if (cookie?.set === false && !report.hasProblem('cookie.set')) {
    say('login.page.enabled', ' is true, so cookie.set must be true: the page logs in by cookie')
  }
  report.check('login.page.path', page.path, pagePathProblem)
  const { secureCookie } = modeFacts(application?.mode, 0)
  report.check('login.page.url', page.url, (url) => urlProblem(url, page.path, secureCookie))
  const url = page.url === undefined ? undefined : URL.parse(page.url)
  const domain = cookie?.domain
  if (url && domain !== undefined && !isBelow(url.hostname, domain)) {
    say(
      'login.page.url',
      `: ${url.hostname} is not below cookie.domain (${domain}), so browsers reject its cookie`,
    )
  }
  const hosts = page.hosts?.filter((host) => host !== undefined)
  if (hosts !== undefined && (page.url === undefined || domain === undefined)) {
    say(
      'login.page.hosts',
      ' requires login.page.url and cookie.domain: see docs/login-page.md#one-page-for-several-hosts',
    )
  }
  for (const host of domain === undefined ? [] : (hosts ?? [])) {
    if (isBelow(host.replace(/^\*\./, ''), domain ?? '')) continue
    say(
      'login.page.hosts',
      `: ${subject(host)} is not below cookie.domain (${domain}), so it never gets the cookie`,
    )
  }
  const { afterLogin } = page
  const canReturn = url === null || createReturns({ url: url?.href, hosts }).read(afterLogin ?? '/')
  if (canReturn === undefined) {
    say(
      'login.page.afterLogin',
      `: ${subject(afterLogin)} is neither a path of this host, such as /orders, nor an address of one of login.page.hosts`,
    )
  }
}

function isBelow(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}

function urlProblem(written: string, path: string | undefined, isSecure: boolean) {
  const url = URL.parse(written)
  const shown = subject(written)
  if (!url) return `${shown} is not a URL; write one such as https://login.example.com/login`
  if (url.href !== written) return `${shown} is not in canonical form; write ${url.href}`
  if (url.protocol === 'http:' && isSecure) {
    return `${shown} must begin with https://: browsers drop the cookie of the login over http`
  }
  if (path === undefined || url.pathname === path) return undefined
  return `${shown} must end with login.page.path (${path}), where Postern serves the page`
}

function pagePathProblem(path: string): string | undefined {
  if (path === '/') return '"/" would hide the first page of your application; use /login'
  const own = OWN_ENDPOINTS.find((it) =>
    `${path.toLowerCase()}/`.startsWith(`${it.toLowerCase()}/`),
  )
  if (own !== undefined) {
    return `${subject(path)} is reserved: ${own} is an endpoint of Postern; use another path`
  }
  return pathProblem(path)
}
