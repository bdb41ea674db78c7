import type { FaultPart, RefusalKind } from '../kernel/errors.ts'

type Result = 'ok' | 'bug' | RefusalKind | FaultPart

/**
 * Label values that a gateway shows at 0 from its start. An alert on the first event needs them:
 * Prometheus computes no increase for a series that first appears as 1.
 */
export const loginResults: readonly Result[] = [
  'ok',
  'bad-login-request',
  'wrong-captcha',
  'wrong-credentials',
  'wrong-otp',
  'too-many-requests',
  'redis',
  'database',
  'password-check',
  'keys',
  'second-factor',
  'clock',
  'bug',
]

export const captchaResults: readonly Result[] = ['ok', 'too-many-requests', 'redis', 'bug']

/** Outcomes that say why a caller is unknown. */
export const unidentified: readonly RefusalKind[] = [
  'token-missing',
  'token-invalid',
  'token-expired',
  'token-too-long-lived',
  'token-revoked',
  'cross-site-cookie',
]

/** Result and carrier. A token that is missing has no carrier, and only a cookie can be cross-site. */
export const identityResults: readonly (readonly string[])[] = [
  ...['ok', 'token-invalid', 'token-expired', 'token-too-long-lived', 'token-revoked'].flatMap(
    (result) => ['header', 'query', 'cookie'].map((carrier) => [result, carrier]),
  ),
  ['token-missing', 'none'],
  ['cross-site-cookie', 'cookie'],
]

/** Whom a token is for. */
export const callerKinds = ['user', 'service', 'issuer'] as const

/** Result, step and mode. */
export const permissionResults: readonly (readonly string[])[] = [
  ['allowed', 'admin', 'enforce'],
  ['allowed', 'exclusion', 'enforce'],
  ['allowed', 'superuser', 'enforce'],
  ['allowed', 'rule', 'enforce'],
  ['denied', 'rule', 'enforce'],
  ['denied', 'none', 'enforce'],
]
