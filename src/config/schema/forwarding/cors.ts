import { HEADER_NAME, ORIGIN_OR_ANY } from '../patterns.ts'
import { flag, integer, list, reloading, string } from '../setting-builders.ts'
import { Type } from '../type.ts'

export const corsSettings = reloading('CORS: pages of other origins that may send requests.', {
  origins: list(
    string(
      { maxLength: 256, pattern: ORIGIN_OR_ANY },
      'Origin as browsers send it, such as https://app.example.com, without a path; or * for all.',
    ),
    { default: [], maxItems: 1000 },
    'Origins whose pages may read responses. Empty: Postern does not handle CORS.',
  ),
  methods: list(
    Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], {
      description: 'HTTP method.',
    }),
    { default: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], minItems: 1, maxItems: 7 },
    'Methods that those pages may use.',
  ),
  headers: list(
    string({ pattern: HEADER_NAME }, 'Name of a request header.'),
    { default: ['Authorization', 'Content-Type'], maxItems: 100 },
    'Request headers that those pages may set.',
  ),
  exposeHeaders: list(
    string({ pattern: HEADER_NAME }, 'Name of a response header.'),
    { default: ['Retry-After'], maxItems: 100 },
    'Response headers that those pages may read, besides the CORS-safelisted ones.',
  ),
  credentials: flag(false, 'Allow browsers to send cookies with those requests.'),
  maxAgeSeconds: integer(
    { default: 600, from: 0, to: 86_400 },
    'Time for which browsers may cache a preflight response, in seconds.',
  ),
})
