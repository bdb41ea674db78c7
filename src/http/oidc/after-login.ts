import type { Reply } from '../../gateway/reply.ts'
import { unstored } from '../json-reply.ts'

/**
 * A page that goes on by itself. After a redirect from another site, browsers leave out cookies with
 * SameSite=Strict for the whole chain; a page of ours begins a new one.
 */
export function pageThatMovesOn(to: string): string {
  // A quote would end the address in the text of the refresh, also as a character reference.
  const quoted = to.replaceAll("'", '%27')
  const target = quoted.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Logged in</title><meta http-equiv="refresh" content="0;url='${target}'"></head><body><p><a href="${target}">Continue</a></p></body></html>`
}

export function moveOn(reply: Reply, to: string, extra: readonly string[]): void {
  const text = pageThatMovesOn(to)
  reply.writeHead(200, [
    'Content-Type',
    'text/html; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(text)),
    'Content-Security-Policy',
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    ...unstored,
    ...extra,
  ])
  reply.end(text, 'utf8')
}
