import { navigation } from './login-page.ts'
import type { RawAnswer } from './raw-client.ts'
import type { TestPostern } from './start-postern.ts'

/** A browser's cookies for one host, however many gateways serve it. */
export class OidcBrowser {
  readonly cookies = new Map<string, string>()

  /** A request with the cookies so far; keeps those of the answer. */
  async send(
    postern: TestPostern,
    line: string,
    { headers = [], body }: { headers?: readonly string[]; body?: string } = {},
  ): Promise<RawAnswer> {
    const pairs = [...this.cookies].map(([name, value]) => `${name}=${value}`)
    const answer = await postern.call(line, {
      headers: [...headers, ...(pairs.length > 0 ? [`Cookie: ${pairs.join('; ')}`] : [])],
      ...(body !== undefined && { body }),
    })
    this.#keep(answer)
    return answer
  }

  /** Begins a login: the address at the provider. */
  async begin(postern: TestPostern, provider: string, query = ''): Promise<URL> {
    const answer = await this.send(postern, `GET /api/v1/login/oidc/${provider}${query}`)
    if (answer.status !== 302) throw new Error(`not begun: ${answer.status} ${answer.body}`)
    return new URL(answer.header('location') ?? '')
  }

  /** Comes back from the provider. */
  callback(
    postern: TestPostern,
    provider: string,
    answer: Readonly<Record<string, string>>,
  ): Promise<RawAnswer> {
    const query = new URLSearchParams(answer)
    return this.send(postern, `GET /api/v1/login/oidc/${provider}/callback?${query}`, {
      // What a browser sends with a redirect of another site.
      headers: ['Sec-Fetch-Site: cross-site', ...navigation],
    })
  }

  /** The names of the logins in progress. */
  get flows(): readonly string[] {
    return [...this.cookies.keys()].filter((name) => name.startsWith('postern_login_'))
  }

  #keep(answer: RawAnswer): void {
    for (const [name, value] of answer.headers) {
      if (name.toLowerCase() !== 'set-cookie') continue
      const [, cookie = '', text = ''] = /^([^=]+)=([^;]*)/.exec(value) ?? []
      if (value.includes('Max-Age=0')) this.cookies.delete(cookie)
      else this.cookies.set(cookie, text)
    }
  }
}
