import { type RawAnswer, request, sendRaw } from './raw-client.ts'
import type { PosternOptions, TestPostern } from './start-postern.ts'
import { tokenOf } from './tokens.ts'

/** A gateway that this machine's 127.0.0.1 may ask, as a proxy, and 127.0.0.9 may not. */
export function asked(
  changes: PosternOptions['config'] = {},
): NonNullable<PosternOptions['config']> {
  return {
    forwardAuth: { enabled: true, port: 0 },
    ...changes,
    application: { trustedProxies: ['127.0.0.1'], ...changes['application'] },
  }
}

export interface Question {
  readonly as?: string
  readonly headers?: readonly string[]
  readonly from?: string
}

/** Asks with these bytes on the wire: `line` is what the proxy sends, not what it asks about. */
export async function ask(
  postern: TestPostern,
  line: string,
  { as, headers = [], from = '127.0.0.1' }: Question = {},
): Promise<RawAnswer> {
  const token = as === undefined ? [] : [`Authorization: Bearer ${tokenOf(as)}`]
  const bytes = Buffer.from(request(line, [...token, ...headers]), 'latin1')
  const { answers } = await sendRaw(postern.forwardAuthPort ?? 0, bytes, { localAddress: from })
  const [answer] = answers
  if (answer === undefined) throw new Error(`no answer to ${line}`)
  return answer
}

/** The same question in the form of each proxy. */
export const contracts = {
  nginx: (method: string, target: string) => ({
    line: 'GET /auth/nginx',
    headers: [`X-Original-Method: ${method}`, `X-Original-URI: ${target}`],
  }),
  traefik: (method: string, target: string) => ({
    line: 'GET /auth/traefik',
    headers: [
      `X-Forwarded-Method: ${method}`,
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: shop.example',
      `X-Forwarded-Uri: ${target}`,
      'X-Forwarded-For: 9.9.9.9',
    ],
  }),
  envoy: (method: string, target: string) => ({
    line: `${method} /auth/envoy${target}`,
    headers: ['Content-Length: 0'],
  }),
} as const

export type ContractName = keyof typeof contracts
export const contractNames = Object.keys(contracts) as ContractName[]

/** Asks about a request in the way of one proxy. */
export function askAbout(
  postern: TestPostern,
  contract: ContractName,
  line: string,
  question: Question = {},
): Promise<RawAnswer> {
  const [method = '', target = ''] = line.split(' ')
  const form = contracts[contract](method, target)
  return ask(postern, form.line, {
    ...question,
    headers: [...form.headers, ...(question.headers ?? [])],
  })
}

/** What is asked about, in whose name, and what is answered. */
export const expectedStatuses: [string, string, string | undefined, number][] = [
  ['nobody', 'GET /api/v1/public/a', undefined, 401],
  ['a role without the permission', 'DELETE /api/v1/public/a', 'editor', 403],
  ['the admin', 'DELETE /api/v1/public/a', 'admin', 200],
  ['the removed endpoint', 'GET /api/v1/refresh_token', 'admin', 404],
  ['the removed endpoint in capitals', 'POST /api/v1/Refresh_Token/', 'admin', 404],
  ['a path with two readings', 'GET /api/v1/public/..;/sys-user', 'editor', 400],
  ['an encoded slash', 'GET /api/v1/public/..%2fsys-user', 'editor', 400],
  ['an empty segment', 'GET /api/v1//public/a', 'editor', 400],
  ['an escape for a letter', 'GET /api/v1/%70ublic/a', 'editor', 400],
  ['an escape for an at sign', 'GET /api/v1/public/a%40b?x=%61', 'editor', 200],
  ['dot segments', 'GET /api/v1/public/../../nginx', 'admin', 400],
  ['TRACE', 'TRACE /api/v1/public/a', 'admin', 405],
  ['login, which is Postern’s own', 'POST /api/v1/login', undefined, 404],
  ['the captcha, which is Postern’s own', 'GET /api/v1/getCaptcha', undefined, 404],
  ['logout, which is Postern’s own', 'POST /api/v1/logout', 'admin', 404],
]
