import type { RawAnswer } from './raw-client.ts'
import type { TestPostern } from './start-postern.ts'

export interface LoginFields {
  readonly [field: string]: unknown
}

/** Posts these fields as JSON to the login endpoint. */
export function postLogin(
  postern: TestPostern,
  fields: LoginFields | string,
  headers: readonly string[] = ['Content-Type: application/json'],
): Promise<RawAnswer> {
  const body = typeof fields === 'string' ? fields : JSON.stringify(fields)
  return postern.call('POST /api/v1/login', { headers, body })
}

/** The same from another loopback address. Returns the code in the answer. */
export async function logInFrom(
  postern: TestPostern,
  from: string,
  fields: LoginFields,
): Promise<number> {
  const headers = ['Content-Type: application/json']
  const body = JSON.stringify(fields)
  const answer = await postern.call('POST /api/v1/login', { headers, body, from })
  return (answer.json() as { code: number }).code
}

/** The fields of a good login in dev mode, where any captcha fields do. */
export function goodLogin(postern: TestPostern, username = 'editor'): LoginFields {
  return { username, password: postern.passwords[username], uuid: '-', code: '-' }
}

/** A token got by logging in on a gateway in dev mode. */
export async function logIn(postern: TestPostern, username = 'editor'): Promise<string> {
  const answer = await postLogin(postern, goodLogin(postern, username))
  return (answer.json() as { token: string }).token
}

export const dev = { application: { mode: 'dev' } } as const
