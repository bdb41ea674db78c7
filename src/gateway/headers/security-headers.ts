import type { SecurityHeaders } from '../route/route.ts'

/** Values of security headers as the configuration has them; `off` leaves a header out. */
export interface SecurityHeaderSettings {
  readonly hsts: string
  readonly frameOptions: string
  readonly contentTypeOptions: string
  readonly referrerPolicy: string
  readonly contentSecurityPolicy: string
  readonly permissionsPolicy: string
}

/** RFC 6797 7.2: Strict-Transport-Security only over TLS, since anyone can forge a plain response. */
export function prepareSecurityHeaders(settings: SecurityHeaderSettings): SecurityHeaders {
  const all: readonly (readonly [string, string])[] = [
    ['X-Frame-Options', settings.frameOptions],
    ['X-Content-Type-Options', settings.contentTypeOptions],
    ['Referrer-Policy', settings.referrerPolicy],
    ['Content-Security-Policy', settings.contentSecurityPolicy],
    ['Permissions-Policy', settings.permissionsPolicy],
  ]
  const sent = (header: readonly [string, string]) => header[1] !== 'off'
  const http = all.filter(sent)
  const hsts = [['Strict-Transport-Security', settings.hsts] as const].filter(sent)
  return { http, https: [...http, ...hsts] }
}
