import { HEADER_NAME, HEADER_VALUE, REDIRECT } from '../patterns.ts'
import {
  optionalFile,
  optionalGroup,
  optionalInteger,
  optionalList,
  optionalString,
  string,
} from '../setting-builders.ts'
import { Type } from '../type.ts'

const headerValue = (description: string) =>
  Type.String({ minLength: 1, maxLength: 4096, pattern: HEADER_VALUE, description })

const headerValues = (description: string) =>
  Type.Optional(
    Type.Record(
      Type.String({ pattern: HEADER_NAME }),
      headerValue('Value of the header, printable ASCII.'),
      { additionalProperties: false, maxProperties: 100, description },
    ),
  )

const headerEdits = (which: string, description: string) =>
  optionalGroup(description, {
    set: headerValues(`${which} headers to set, replacing any value. Unset: none.`),
    add: headerValues(`${which} headers to add beside existing ones. Unset: none.`),
    remove: optionalList(
      string({ pattern: HEADER_NAME }, 'Name of a header.'),
      { maxItems: 100 },
      `${which} headers to remove. Unset: none.`,
    ),
  })

const securityHeader = (value: string, name: string, note = '') =>
  string(
    { default: value, minLength: 1, maxLength: 4096, pattern: HEADER_VALUE },
    `Value of ${name}${note}. off: do not send it.`,
  )

/** Settings of a route about headers, and responses without an upstream. */
export const headerShapingSettings = {
  requestHeaders: headerEdits(
    'Request',
    'Changes of the headers that the upstream gets. Reserved headers cannot be changed. Unset: none.',
  ),
  responseHeaders: headerEdits(
    'Response',
    'Changes of the headers of responses of the upstream, or of respond. Reserved headers cannot be changed. Unset: none.',
  ),
  securityHeaders: optionalGroup(
    'Security headers of all responses on this route, refusals included, unless the upstream sends its own. {}: the defaults. Unset: none.',
    {
      hsts: securityHeader(
        'max-age=31536000',
        'Strict-Transport-Security',
        ', sent over HTTPS only',
      ),
      frameOptions: securityHeader('SAMEORIGIN', 'X-Frame-Options'),
      contentTypeOptions: securityHeader('nosniff', 'X-Content-Type-Options'),
      referrerPolicy: securityHeader('strict-origin-when-cross-origin', 'Referrer-Policy'),
      contentSecurityPolicy: securityHeader('off', 'Content-Security-Policy'),
      permissionsPolicy: securityHeader('off', 'Permissions-Policy'),
    },
  ),
  respond: optionalGroup(
    'Response of the gateway itself instead of an upstream, after the access check of the route. Unset: the upstream responds.',
    {
      status: optionalInteger(
        { from: 200, to: 599 },
        'HTTP status of the response. Unset: 200, or 302 with redirect.',
      ),
      headers: headerValues('Headers of the response, such as Retry-After. Unset: none.'),
      body: optionalString(
        { maxLength: 65_536 },
        'Text of the response; text/plain unless headers has Content-Type. Unset: no body, or that of file.',
      ),
      file: optionalFile(
        'File with the body of the response, 1 MiB at most, read when the configuration is loaded. Its ending decides the Content-Type. Unset: body.',
      ),
      redirect: optionalString(
        { minLength: 1, maxLength: 1024, pattern: REDIRECT },
        'Address to redirect to: an absolute URL or a path. {path} stands for the path of the request, after replacePrefix, with its query. Unset: no redirect.',
      ),
    },
  ),
}
