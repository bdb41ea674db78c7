import { subject } from '../../kernel/quote.ts'
import type { Say } from '../../login/method-kind.ts'
import { loginMethods } from '../../login/methods/login-methods.ts'
import { namedProviders } from '../login-providers.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'

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
