import type { ModeFacts } from '../config/mode.ts'
import type { Log } from '../log.ts'

/** Says what nobody should overlook about the mode. */
export function warnOfMode({ warning, captchaRequired }: ModeFacts, log: Log): void {
  if (warning !== undefined) log.warn(warning)
  if (captchaRequired) return
  log.warn('MODE DEV: no captcha, tokens last 100 years. Never put this in front of real data.')
}
