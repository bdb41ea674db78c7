import { createReturns } from '../../admission/return-addresses.ts'
import type { Config } from '../../config/schema/schema.ts'
import { refusalEnvelopes } from '../../http/envelope.ts'
import { createErrorText } from '../../http/error-text.ts'
import type { Messages } from '../../messages/messages.ts'
import { createExplain } from '../../page/explain.ts'
import { languageOf } from '../../page/language.ts'
import { createLoginPage } from '../../page/page.ts'
import type { PageParts } from '../../page/parts.ts'
import { readLogo } from '../../page/read-logo.ts'
import type { OpenMethods } from './open-methods.ts'

type Given = Omit<PageParts, 'settings' | 'logo' | 'icons' | 'form' | 'pages' | 'explain'> & {
  readonly messages: Messages
}

/** The settings of own responses that a reload may change. */
export type ResponseSettings = Pick<Config, 'refusals' | 'endpoints'>

/** The login page of a configuration; `undefined` when it is off. The logo is read once. */
export async function buildPage(
  config: Config,
  { hasPasswordForm, redirects }: Pick<OpenMethods, 'hasPasswordForm' | 'redirects'>,
) {
  const { page } = config.login
  if (!page.enabled) return undefined
  const logo = page.logo === undefined ? undefined : await readLogo(page.logo)
  const buttons = redirects?.buttons ?? []
  const icons = await Promise.all(
    buttons.flatMap(({ name, icon }) =>
      icon === undefined ? [] : [readLogo(icon).then((file) => [`icon-${name}`, file] as const)],
    ),
  )

  return ({ refusals, endpoints }: ResponseSettings, given: Given) =>
    createLoginPage({
      ...given,
      settings: { ...page, returns: createReturns(page), language: languageOf(refusals.language) },
      logo,
      icons,
      form: {
        hasPassword: hasPasswordForm,
        buttons,
        hasDigitsOnly: /^[0-9]+$/.test(config.captcha.alphabet),
        hasSecondFactor: config.login.secondFactor.roles.length > 0,
      },
      pages: {
        password: endpoints.password === 'gateway' && config.login.local,
        logout: endpoints.logout === 'gateway',
      },
      explain: createExplain(createErrorText(refusalEnvelopes(refusals), given.messages)),
    })
}
