import type { ModeFacts } from '../config/mode.ts'
import type { Log } from '../log/log.ts'

/** Logs the mode and its effects, in every mode, so that operators do not have to guess. */
export function logMode(mode: ModeFacts, log: Log): void {
  const { name, captchaRequired, tokenLifetimeSeconds, warning } = mode
  log.info({ mode: name, captchaRequired, tokenLifetimeSeconds }, 'application mode')
  if (warning !== undefined) log.warn(warning)
  if (captchaRequired) return
  log.warn('MODE DEV: no captcha, tokens last 100 years. Never put this in front of real data.')
}
