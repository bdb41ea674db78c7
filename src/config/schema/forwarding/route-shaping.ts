import { DAY_MS, optionalGroup, optionalInteger, string, TIB } from '../setting-builders.ts'
import { Type } from '../type.ts'

const timeoutMs = (description: string) => optionalInteger({ from: 1, to: DAY_MS }, description)

const ranges = (description: string) =>
  Type.Optional(
    Type.Array(
      string(
        { minLength: 1, maxLength: 64 },
        'IP address or CIDR range, such as 10.0.0.0/8 or 2001:db8::/32.',
      ),
      { minItems: 1, maxItems: 1000, uniqueItems: true, description },
    ),
  )

/** Settings of a route about the requests it accepts and how they are changed. */
export const shapingSettings = {
  bodyBytes: optionalInteger(
    { from: 0, to: TIB },
    'Maximum size of a request body on this route, in bytes; may be more or less than limits.bodyBytes. 0: no bodies. Unset: limits.bodyBytes.',
  ),
  timeouts: optionalGroup('Timeouts of this route. Unset: those of its upstream.', {
    headersMs: timeoutMs(
      'Timeout for the response headers, in milliseconds. Unset: headersTimeoutMs of the upstream.',
    ),
    bodyMs: timeoutMs(
      'Timeout between two reads of a response body or two writes of a request body, in milliseconds. Unset: bodyTimeoutMs of the upstream.',
    ),
    totalMs: timeoutMs(
      'Timeout for the whole request, retries included, from the permission check to the last byte of the response, in milliseconds. Upgraded connections are exempt. Unset: no limit.',
    ),
  }),
  addresses: optionalGroup(
    'Client addresses that may use the route, as application.trustedProxies report them. Unset: all.',
    {
      allow: ranges('Addresses that may use the route. Unset: all that deny does not name.'),
      deny: ranges('Addresses that may not use the route, even if allow names them. Unset: none.'),
    },
  ),
}
