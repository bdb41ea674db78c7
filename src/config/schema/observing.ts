import { Type } from 'typebox'
import { flag, section } from './setting-forms.ts'

const shown = (what: string) =>
  Type.Enum(['plain', 'hash', 'omit'], {
    default: 'plain',
    description: `How a decision names ${what}: as it is, as a keyed hash, or not at all.`,
  })

/** What is written down. */
export const loggerSettings = section('What is written down.', {
  level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    description: 'The least grave log line that is still written.',
  }),
  format: Type.Enum(['auto', 'json', 'text'], {
    default: 'auto',
    description: 'The form of log lines: auto is text for people on a terminal and JSON elsewhere.',
  }),
  decisions: section('One line for each decision on identity and permission.', {
    enabled: flag(false, 'Whether decisions are written down, whatever the level.'),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: 'The file that decisions are appended to; without it they go to the log.',
      }),
    ),
    userId: shown('the user ID'),
    path: shown('the path'),
  }),
  enableddb: flag(false, 'Whether every login attempt is written to the login log.'),
  required: flag(false, 'Whether login is refused while the login log has no room for its record.'),
})

/** Where a request stands in a trace that others began (W3C Trace Context). */
export const tracingSettings = section('What becomes of traceparent and tracestate.', {
  propagate: Type.Enum(['span', 'same', 'off'], {
    default: 'span',
    description:
      'What the upstream gets of a trace: span goes on under an ID of ours, same as it came, off nothing.',
  }),
  from: Type.Enum(['anyone', 'trusted-proxies'], {
    default: 'anyone',
    description:
      'Whose traceparent counts; trusted-proxies are those of application.trustedProxies.',
  }),
})
