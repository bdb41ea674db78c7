import { extname } from 'node:path'
import type { FixedResponse } from './route.ts'

/** A response of the gateway itself, as the configuration has it. */
export interface FixedSettings {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly file?: string
  readonly redirect?: string
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
}

/** RFC 9110 15.3.5, 15.4.5: these have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 304])

/** `content` is that of the file, if it has one. */
export function prepareFixed(settings: FixedSettings, content: Buffer | undefined): FixedResponse {
  const { headers = {}, body = '', file, redirect } = settings
  const status = settings.status ?? (redirect === undefined ? 200 : 302)
  const text = (content ?? Buffer.from(body)).toString('latin1')
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const out = Object.entries(headers).flat()
  if (text !== '' && !own.has('content-type')) out.push('Content-Type', typeOf(file))
  // Browsers must not guess another type.
  if (!own.has('x-content-type-options')) out.push('X-Content-Type-Options', 'nosniff')
  if (!bodiless.has(status)) out.push('Content-Length', String(text.length))
  return { status, headers: out, body: text, location: redirect?.split('{path}', 2) }
}

function typeOf(file: string | undefined): string {
  if (file === undefined) return 'text/plain; charset=utf-8'
  return types[extname(file).toLowerCase()] ?? 'application/octet-stream'
}
