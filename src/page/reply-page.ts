import type { Reply } from '../gateway/reply.ts'
import type { ByteRange } from './byte-range.ts'
import type { Html } from './html.ts'

/**
 * Nothing inline, nothing foreign, no frame around it (clickjacking), no other target for the password.
 * Browsers send `Origin: null` from a page with `no-referrer`, which the cross-site check refuses, so
 * the policy is `same-origin`: other sites still learn nothing of `to`.
 */
const security: readonly string[] = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'X-Frame-Options',
  'DENY',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Referrer-Policy',
  'same-origin',
  'X-Content-Type-Options',
  'nosniff',
]

/** Sends a page. No cache may store it: it is about one person, or has a captcha. */
export function replyPage(
  reply: Reply,
  status: number,
  { page, language }: { readonly page: Html; readonly language: string },
  extra: readonly string[] = [],
): void {
  reply.writeHead(status, [
    'Content-Type',
    'text/html; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(page.text)),
    'Content-Language',
    language,
    'Vary',
    'Accept-Language',
    'Cache-Control',
    'no-store',
    ...security,
    ...extra,
  ])
  reply.end(page.text, 'utf8')
}

export interface PageFile {
  readonly type: string
  readonly bytes: Buffer
}

/**
 * Sends a file of the page, or a range of it. An SVG that is opened by itself must not run scripts on
 * this origin.
 */
export function replyFile(
  reply: Reply,
  { type, bytes }: PageFile,
  cacheControl: string,
  range?: ByteRange,
): void {
  const part = range === undefined ? bytes : bytes.subarray(range.first, range.last + 1)
  reply.writeHead(range === undefined ? 200 : 206, [
    'Content-Type',
    type,
    'Content-Length',
    String(part.length),
    ...(range === undefined
      ? []
      : ['Content-Range', `bytes ${range.first}-${range.last}/${bytes.length}`]),
    'Cache-Control',
    cacheControl,
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'Cross-Origin-Resource-Policy',
    'same-origin',
    'X-Content-Type-Options',
    'nosniff',
  ])
  reply.end(part.toString('latin1'), 'latin1')
}
