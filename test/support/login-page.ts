import type { RawAnswer } from './raw-client.ts'
import { type PosternOptions, startPostern, type TestPostern } from './start-postern.ts'

export const navigation = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'] as const
const form = 'Content-Type: application/x-www-form-urlencoded'
const sameOrigin = 'Sec-Fetch-Site: same-origin'

/** A gateway with the login page, in which nothing is limited that tests do often. */
export function startWithPage(options: PosternOptions = {}): Promise<TestPostern> {
  const { login, ...config } = options.config ?? {}
  const page = { enabled: true, ...(login?.['page'] as object | undefined) }
  return startPostern({
    ...options,
    config: {
      cookie: { set: true },
      ...config,
      login: {
        perAddressPerMinute: 10_000,
        captchaPerAddressPerMinute: 10_000,
        ...login,
        page,
      },
    },
  })
}

/** Sends a form as a browser does, from a page of the gateway itself. */
export function postForm(
  postern: TestPostern,
  target: string,
  fields: Readonly<Record<string, string>>,
  headers: readonly string[] = [sameOrigin],
): Promise<RawAnswer> {
  const body = new URLSearchParams(fields).toString()
  return postern.call(`POST ${target}`, { headers: [form, ...headers], body })
}

/** The fields of a good login in dev mode. */
export function goodForm(postern: TestPostern, username = 'editor') {
  return { username, password: postern.passwords[username] ?? '', uuid: '-', code: '-' }
}

/** The captcha of a login form, read as a person would. */
export async function readCaptcha(postern: TestPostern, page: string) {
  const source = attribute(page, /<img src="([^"]*captcha[^"]*)"/)
  const picture = await postern.call(`GET ${source}`)
  const uuid = attribute(page, /name="uuid" value="([^"]*)"/)
  return { source, picture, uuid, code: postern.captchaTexts.at(-1) ?? '' }
}

export function attribute(page: string, pattern: RegExp): string {
  return (pattern.exec(page)?.[1] ?? '').replaceAll('&#38;', '&').replaceAll('&#39;', "'")
}

/** Where the page after a good login goes on; `undefined` for every other page. */
export function nextOf({ body }: RawAnswer): string | undefined {
  return attribute(body, /http-equiv="refresh" content="0;url='([^']*)'"/) || undefined
}

/** The token cookie that a response sets. */
export function cookieOf(answer: RawAnswer): string | undefined {
  return /^(jwt=[^;]+)/.exec(answer.header('set-cookie') ?? '')?.[1]
}
