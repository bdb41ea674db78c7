/**
 * On every response; pages replace the last one. `default-src` covers neither frames around us nor
 * `base` nor forms, so these have directives of their own. No directive names an exception.
 */
export const securityHeaders = {
  'content-security-policy':
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const
