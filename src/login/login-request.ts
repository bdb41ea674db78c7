import { type JsonBody, parseJsonFields, readJsonFields } from './json-fields.ts'
import { maxPasswordBytes } from './passwords/password-rules.ts'

/** The validated fields of a login. */
export interface LoginRequest {
  readonly username: string
  readonly password: string
  readonly uuid: string
  readonly code: string
}

/** Binds and validates: a JSON object with four non-empty strings, in dev mode too. Others are ignored. */
export function bindLoginRequest(body: JsonBody): LoginRequest {
  const fields = readJsonFields(body, 'bad-login-request')
  const username = fields.text('username', 128)
  const password = fields.text('password', maxPasswordBytes)
  const uuid = fields.text('uuid', 128)
  const code = fields.text('code', 32)
  return { username, password, uuid, code }
}

/** The attempted name, for the record of an attempt that failed validation. */
export function attemptedName({ bytes }: JsonBody): string {
  try {
    const name =
      bytes === undefined ? undefined : parseJsonFields(bytes, 'bad-login-request').get('username')
    return typeof name === 'string' ? name.slice(0, 128) : ''
  } catch {
    return ''
  }
}
