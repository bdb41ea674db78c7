import type { Reply } from '../gateway/reply.ts'

/** One of our own responses, ready to be sent any number of times. */
export interface PreparedJson {
  /** Latin-1 of the UTF-8 bytes: its length is theirs, and `PlainReply` sends it in one piece. */
  readonly text: string
  readonly headers: readonly string[]
}

/** The body of our own responses: its line break puts the prompt of a shell on a line of its own. */
export const jsonText = (body: object): string => `${JSON.stringify(body)}\n`

/** No cache may store it, no other site learns of it, and no browser guesses what it is. */
export const unstored: readonly string[] = [
  'Cache-Control',
  'no-store',
  'Referrer-Policy',
  'no-referrer',
  'X-Content-Type-Options',
  'nosniff',
]

/** No cache may store it. */
export function prepareJson(
  body: Readonly<Record<string, unknown>>,
  extra: readonly string[] = [],
): PreparedJson {
  const text = Buffer.from(jsonText(body)).toString('latin1')
  return {
    text,
    headers: [
      'Content-Type',
      'application/json; charset=utf-8',
      'Content-Length',
      String(text.length),
      ...unstored,
      ...extra,
    ],
  }
}

export function sendJson(
  reply: Reply,
  status: number,
  { text, headers }: PreparedJson,
  extra: readonly string[] = [],
): void {
  reply.writeHead(status, [...headers, ...extra])
  reply.end(text, 'latin1')
}

/** Sends one of our own responses. */
export function replyJson(
  reply: Reply,
  status: number,
  body: Readonly<Record<string, unknown>>,
  extra: readonly string[] = [],
): void {
  sendJson(reply, status, prepareJson(body, extra))
}
