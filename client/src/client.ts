import type { Posts, Questions, Streams } from './api.ts'
import { Problem } from './problem.ts'
import { linesOf } from './read-lines.ts'

export type * from './api.ts'
export { Problem }

/** Where the console is, and who asks. */
export interface ClientOptions {
  /** The address of the console, such as `http://127.0.0.1:9200`. Unset: that of the page. */
  readonly url?: string
  /** The token of a service account. Unset: log in with `post('login', …)`. */
  readonly token?: string
  /** Sends the requests. Unset: the one of the platform. */
  readonly fetch?: typeof globalThis.fetch
}

/** What cancels a call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** The answer to a call. */
export interface Answered<Document> {
  readonly document: Document
  /** Of the command with the same name: 0 is done or yes, 1 no, 4 a failed test. */
  readonly exitCode: number
}

/** The paths whose answers come in this format, too. */
type PathsWith<Format> = {
  [Path in keyof Questions]: Questions[Path] extends { readonly formats: infer Formats }
    ? Format extends Formats
      ? Path
      : never
    : never
}[keyof Questions]

type Item<Document> = Document extends readonly (infer Each)[] ? Each : Document

/** A client of the management API. Every call throws a `Problem` for an answer that is an error. */
export interface Client {
  /** Asks a question, such as `get('policy/who', { method: 'GET', path: '/orders' })`. */
  get<Path extends keyof Questions>(
    path: Path,
    input?: Questions[Path]['input'],
    options?: CallOptions,
  ): Promise<Answered<Questions[Path]['document']>>
  /** Logs in or out, asks about a draft or changes something, such as `post('session/end', { id })`. */
  post<Path extends keyof Posts>(
    path: Path,
    input?: Posts[Path]['input'],
    options?: CallOptions,
  ): Promise<Answered<Posts[Path]['document']>>
  /** The answer as text for people, or as CSV. */
  text<Format extends 'text' | 'csv', Path extends PathsWith<Format>>(
    format: Format,
    path: Path,
    input?: Questions[Path]['input'],
    options?: CallOptions,
  ): Promise<string>
  /** A long list piece by piece, as JSON lines. */
  lines<Path extends PathsWith<'jsonl'>>(
    path: Path,
    input?: Questions[Path]['input'],
    options?: CallOptions,
  ): AsyncIterable<Item<Questions[Path]['document']>>
  /** The response of a stream of server-sent events, whose body is not read yet. */
  open(path: keyof Streams, options?: CallOptions): Promise<Response>
  /** The address of a question, for a link. */
  address(path: keyof Questions, input: object): string
}

/** A client for one console and one caller. It keeps the session of a login. */
export function createClient(options: ClientOptions = {}): Client {
  const { url = '', token } = options
  const base = `${url.replace(/\/+$/, '')}/console/api/v1/`
  let cookie: string | undefined

  /** Sends a request. Throws a `Problem` unless the answer is a success. */
  async function send(path: string, init: RequestInit): Promise<Response> {
    const headers = {
      ...(init.body !== undefined && { 'Content-Type': 'application/json' }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(cookie?.endsWith('=') === false && { Cookie: cookie }),
    }
    const ask = options.fetch ?? globalThis.fetch
    const response = await ask(base + path, { ...init, headers, redirect: 'error' })
    cookie = sessionIn(response) ?? cookie
    if (!response.ok) throw new Problem(response.status, await bodyOf(response))
    return response
  }

  async function answered<Document>(response: Response): Promise<Answered<Document>> {
    const body = await bodyOf(response)
    // The command asked, and says no in general: there is no such user.
    if (isDeclined(body)) throw new Problem(response.status, body)
    const exitCode = Number(response.headers.get('Postern-Exit-Code') ?? 0)
    return { document: body as Document, exitCode }
  }

  return {
    get: async (path, input = {} as never, { signal } = {}) =>
      answered(await send(pathOf(path, input as object), { signal: signal ?? null })),
    post: async (path, input = {} as never, { signal } = {}) =>
      answered(
        await send(path, { method: 'POST', body: JSON.stringify(input), signal: signal ?? null }),
      ),
    async text(format, path, input = {} as never, { signal } = {}) {
      const asked = pathOf(path, { ...(input as object), output: format })
      return (await send(asked, { signal: signal ?? null })).text()
    },
    async *lines(path, input = {} as never, { signal } = {}) {
      const asked = pathOf(path, { ...(input as object), output: 'jsonl' })
      const response = await send(asked, { signal: signal ?? null })
      for await (const line of linesOf(response)) yield JSON.parse(line)
    },
    open: (path, { signal } = {}) => send(path, { signal: signal ?? null }),
    address: (path, input) => base + pathOf(path, input),
  }
}

/** What has no value is left out. */
function pathOf(path: string, input: object): string {
  const given = Object.entries(input).flatMap(([name, value]): readonly [string, string][] =>
    value === undefined || value === '' || value === false ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** The cookie that a login sets and a logout empties. Browsers keep it themselves, and show it to no script. */
function sessionIn({ headers }: Response): string | undefined {
  const set = headers.getSetCookie().find((each) => /^(?:__Host-)?postern-console=/.test(each))
  return set?.split(';', 1)[0]
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text()
  if (!(response.headers.get('Content-Type') ?? '').includes('json')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function isDeclined(body: unknown): boolean {
  const { ok, errors } = Object(body) as { ok?: unknown; errors?: unknown }
  return ok === false && Array.isArray(errors)
}
