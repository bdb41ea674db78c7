import type { Fields } from './fields.ts'
import type { FindLoginMethod } from './login-method.ts'

/** The captcha of a login: its ID and what the user typed. */
export interface CaptchaAnswer {
  readonly uuid: string
  readonly code: string
}

export function bindCaptcha(fields: Fields): CaptchaAnswer {
  return { uuid: fields.text('uuid', 128), code: fields.text('code', 32) }
}

/** The attempted name, for the record of an attempt, also of one that failed validation. */
export function attemptedName(read: () => Fields, findMethod: FindLoginMethod): string {
  try {
    const fields = read()
    const { nameField = 'username' } = findMethod(fields.optionalText('provider', 64)) ?? {}
    const name = fields.get(nameField)
    return typeof name === 'string' ? name.slice(0, 128) : ''
  } catch {
    return ''
  }
}
