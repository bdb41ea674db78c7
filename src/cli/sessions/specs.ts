import { type CommandSpec, configOption, outputOption } from '../command.ts'

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
