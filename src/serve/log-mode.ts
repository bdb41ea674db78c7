import { identityWarnings } from '../config/identity-warnings.ts'
import { configuredIssuers } from '../config/issuers.ts'
import type { ModeFacts } from '../config/mode.ts'
import type { Config } from '../config/schema/schema.ts'
import type { Log } from '../log/log.ts'

/** Logs the mode and its effects, in every mode, so that operators do not have to guess. */
export function logMode(mode: ModeFacts, log: Log): void {
  const { name, captchaRequired, tokenLifetimeSeconds, warning } = mode
  log.info({ mode: name, captchaRequired, tokenLifetimeSeconds }, 'application mode')
  if (warning !== undefined) log.warn(warning)
  if (captchaRequired) return
  log.warn('MODE DEV: no captcha, tokens last 100 years. Never put this in front of real data.')
}

/** Logs who else gets in, because by default only a login issues tokens (specification, Authentication 1). */
export function logOtherTokens(config: Config, log: Log): void {
  const { issuers, tokens } = config
  const { service } = tokens
  for (const warning of identityWarnings(config)) log.warn(warning)
  if (service.enabled) {
    log.info({ maxLifetimeSeconds: service.maxLifetime }, 'accepting service tokens')
  }
  if (issuers.length === 0) return
  const shown = configuredIssuers(issuers).map(({ name, issuer, roles }) => {
    return { name, issuer, roles: [...new Set(roles.map(({ role }) => role))] }
  })
  log.info({ issuers: shown }, 'accepting tokens of other issuers')
}
