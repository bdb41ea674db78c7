import type { Reply } from '../gateway/reply.ts'
import type { ByteRange } from './byte-range.ts'
import type { Html } from './html.ts'

/**
 * Nothing inline, nothing foreign, no frame around it (clickjacking), no other target for the password.
 * Browsers send `Origin: null` from a page with `no-referrer`, which the cross-site check refuses, so
 * the policy is `same-origin`: other sites still learn nothing of `to`.
 */
const rules = "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
const usual = `default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; script-src 'self'; connect-src 'self'; ${rules}`
const security: readonly string[] = [
  'X-Frame-Options',
  'DENY',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Referrer-Policy',
  'same-origin',
  'X-Content-Type-Options',
  'nosniff',
]

/** Without any script, whatever markup of an operator has; `styles` are the hashes of its style elements. */
const ofTemplate = (styles: readonly string[]) =>
  `default-src 'none'; style-src ${["'self'", ...styles].join(' ')}; img-src 'self' data:; font-src 'self'; ${rules}`

/** No cache may store a page: it is about one person, or has a captcha. `styles`: of an error. */
export function pageHeaders(text: string, language: string, styles?: readonly string[]): string[] {
  return [
    'Content-Type',
    'text/html; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(text)),
    'Content-Language',
    language,
    'Vary',
    'Accept-Language',
    'Cache-Control',
    'no-store',
    'Content-Security-Policy',
    styles === undefined ? usual : ofTemplate(styles),
    ...security,
  ]
}

export function replyPage(
  reply: Reply,
  status: number,
  { page, language }: { readonly page: Html; readonly language: string },
  extra: readonly string[] = [],
): void {
  reply.writeHead(status, [...pageHeaders(page.text, language), ...extra])
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
