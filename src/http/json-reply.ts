import type { Reply } from '../gateway/reply.ts'

/** Sends one of our own responses. No cache may store it. */
export function replyJson(
  reply: Reply,
  status: number,
  body: Readonly<Record<string, unknown>>,
  extra: readonly string[] = [],
): void {
  const text = JSON.stringify(body)
  reply.writeHead(status, [
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(text)),
    'Cache-Control',
    'no-store',
    'Referrer-Policy',
    'no-referrer',
    'X-Content-Type-Options',
    'nosniff',
    ...extra,
  ])
  reply.end(text, 'utf8')
}
