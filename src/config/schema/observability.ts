import { COLLECTOR_URL } from './patterns.ts'
import { choice, flag, integer, optionalFile, optionalString, section } from './setting-builders.ts'
import { Type } from './type.ts'

const visibility = (what: string) =>
  choice(
    ['plain', 'hash', 'omit'],
    `How ${what} appears in the decision log: plain, hash (a keyed hash) or omit.`,
  )

export const loggerSettings = section('Logs.', {
  level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    reloads: true,
    description: 'Lowest severity that is logged.',
  }),
  format: choice(
    ['auto', 'json', 'text'],
    'Format of log lines. auto: text on a terminal, json elsewhere.',
  ),
  decisions: section('Decision log: one line for each decision on identity and permission.', {
    enabled: flag(false, 'Write the decision log, at any logger.level.'),
    file: optionalFile('File that decisions are appended to. Unset: they go to the log.'),
    userId: visibility('the user ID'),
    path: visibility('the path'),
  }),
  enableddb: flag(false, 'Record every login attempt in the login log.'),
  required: flag(
    false,
    'Answer logins with 503 while the login log is full. Requires logger.enableddb.',
  ),
})

export const tracingSettings = section(
  'W3C Trace Context (traceparent and tracestate), and the export of spans.',
  {
    propagate: choice(
      ['span', 'same', 'off'],
      'What upstreams receive. span: the trace, under a new span ID; same: the headers unchanged; off: neither header.',
    ),
    from: choice(
      ['anyone', 'trusted-proxies'],
      'Whose traceparent is used. trusted-proxies: only that of application.trustedProxies.',
    ),
    otlp: optionalString(
      { maxLength: 1024, pattern: COLLECTOR_URL },
      'URL of an OpenTelemetry collector that receives spans by OTLP/HTTP as JSON, such as http://collector:4318. Without a path, /v1/traces is added. Unset: spans only with a loaded SDK.',
    ),
    samplePercent: integer(
      { default: 100, from: 0, to: 100 },
      'Share of new traces that tracing.otlp exports, in percent. A request with a traceparent follows its sampled flag.',
    ),
  },
)
