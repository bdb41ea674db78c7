import { ORIGIN } from './patterns.ts'
import {
  certificateFiles,
  DAY_SECONDS,
  flag,
  integer,
  list,
  listening,
  optionalGroup,
  optionalString,
  section,
  string,
} from './setting-builders.ts'

const keys = (of: string, value: readonly string[], description: string) =>
  list(string({ minLength: 1, maxLength: 128 }, of), { default: value, maxItems: 100 }, description)

const roleKeys = (value: readonly string[], description: string) =>
  keys('Key of a role of accounts.', value, description)

const serviceNames = (description: string) => keys('Name of a service account.', [], description)

export const consoleSettings = section(
  'Console: pages and management API for operators, on a listener and in a process of its own.',
  {
    enabled: flag(
      false,
      'Start the console together with the gateway. The command "postern console" runs it alone and ignores this setting.',
    ),
    ...listening(
      ...(['console', '127.0.0.1', 9200] as const),
      ' One that is not a loopback address requires console.tls, or console.url with https.',
    ),
    url: optionalString(
      { maxLength: 1024, pattern: ORIGIN },
      'Origin by which browsers reach the console, such as https://console.example.com. Required behind a reverse proxy and for single sign-on. Unset: the console answers to IP addresses, localhost and console.host.',
    ),
    tls: optionalGroup('TLS on the console. Unset: plain HTTP.', certificateFiles),
    write: flag(
      false,
      'Offer operations that change accounts, sessions and policies. false: the management API has none of them.',
    ),
    sessionSeconds: integer(
      { default: 28_800, from: 60, to: DAY_SECONDS },
      'Lifetime of a login to the console, in seconds.',
    ),
    roles: section(
      'Roles of accounts that may use the console, by what they may do. All other accounts cannot log in to it.',
      {
        reader: roleKeys([], 'Roles that may look at everything.'),
        author: roleKeys(
          [],
          'Roles that may also check drafts, and propose policies if console.write is true.',
        ),
        publisher: roleKeys(
          ['admin'],
          'Roles that may also publish policies, and change accounts and sessions, if console.write is true. Only the role admin changes administrators and publishers.',
        ),
      },
    ),
    services: section(
      'Service accounts that may call the management API with their tokens, by what they may do. Requires tokens.service.enabled. A role of the account in console.roles has no effect here.',
      {
        reader: serviceNames('Service accounts that may look at everything.'),
        author: serviceNames(
          'Service accounts that may also check drafts, and propose policies if console.write is true.',
        ),
        publisher: serviceNames(
          'Service accounts that may also publish policies, and change accounts and sessions, if console.write is true. No password confirms their changes.',
        ),
      },
    ),
  },
)
