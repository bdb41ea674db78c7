import { type CommandSpec, configOption, outputOption } from '../command.ts'

export const listSpec = {
  name: 'session list',
  summary: 'list who is logged in',
  details: `A session is a token that a login issued and that gateways still accept. Those seen last come first;
the times are in UTC, and the last one is exact to about a minute. The ID of a login to the console
begins with console-.

Tokens of service accounts and of other issuers are not sessions.`,
  arguments: [],
  options: {
    user: { value: 'NAME|ID', description: 'only sessions of this user' },
    limit: {
      value: 'N',
      number: { min: 1, integer: true },
      default: '100',
      description: 'number of sessions, those seen last first',
    },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'listed',
    3: 'the configuration or a table is not valid',
    5: 'Redis or the database is unreachable, or has no table postern_session',
  },
  examples: [
    'postern session list',
    'postern session list --user alice',
    "postern session list --limit 100000 --output json | jq -r '.sessions[].address' | sort | uniq -c",
  ],
} as const satisfies CommandSpec

export const endSpec = {
  name: 'session end',
  summary: 'end one session, those of a user, or all',
  details: `Revokes tokens on every gateway, within a second, and appends to the audit log.

--user and --all also end logins that have no record. --all asks on a terminal; elsewhere it needs
--yes. It ends the logins of every user, and leaves tokens of service accounts and of other issuers
valid. Gateways older than this command ignore --all: upgrade them first.`,
  usage: ['ID', '--user NAME|ID', '--all'],
  arguments: [
    { name: 'ID', description: 'the session, as "session list" shows it', unless: ['user', 'all'] },
  ],
  options: {
    user: { value: 'NAME|ID', description: 'end every session of this user' },
    all: { description: 'end every session of every user' },
    yes: { description: 'do not ask' },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'ended',
    1: 'not ended: unknown session or user, or not confirmed',
    3: 'the configuration or a table is not valid',
    5: 'Redis or the database is unreachable, or has no table postern_session',
  },
  examples: [
    'postern session end 0195f2a1-7c3e-7b4a-9d21-3f0c5e8a6b17',
    'postern session end --user alice',
    'postern session end --all --yes',
  ],
} as const satisfies CommandSpec
