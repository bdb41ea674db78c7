import type { Reply } from '../gateway/reply.ts'

/** Sends one of our own responses. No cache may store it. */
export function replyJson(
  reply: Reply,
  status: number,
  body: Readonly<Record<string, unknown>>,
  extra: readonly string[] = [],
): void {
  // Latin-1 of the UTF-8 bytes: `PlainReply` sends it in one piece, and its length is known.
  const text = Buffer.from(JSON.stringify(body)).toString('latin1')
  reply.writeHead(status, [
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    String(text.length),
    'Cache-Control',
    'no-store',
    'Referrer-Policy',
    'no-referrer',
    'X-Content-Type-Options',
    'nosniff',
    ...extra,
  ])
  reply.end(text, 'latin1')
}
