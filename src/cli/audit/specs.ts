import { type CommandSpec, configOption } from '../command.ts'

export const listSpec = {
  name: 'audit list',
  summary: 'list the changes to accounts, roles, keys, sessions and policies',
  details: `Shows who changed what, from where and when, newest first; times are by the clock of the database.
Postern never changes or deletes an entry.

Logins and logouts are not changes: "postern login list" shows them. The name of an operator is the
user of the operating system that ran the command.`,
  arguments: [],
  options: {
    since: { value: 'DURATION', description: 'only the last 30m, 12h or 7d (default: all)' },
    actor: { value: 'NAME', description: 'only changes by this operator, user or gateway' },
    action: {
      value: 'ACTION',
      description: 'only this action, such as user.role, or a group, such as user',
    },
    subject: { value: 'NAME', description: 'only changes of this user, role, key or policy' },
    limit: {
      value: 'N',
      number: { min: 1, integer: true },
      default: '100',
      description: 'number of entries, newest first',
    },
    output: {
      value: 'FORMAT',
      choices: ['text', 'json', 'jsonl'],
      default: 'text',
      description: 'output format: text, json, or jsonl with one line of JSON for each entry',
    },
    ...configOption,
  },
  exitCodes: {
    0: 'listed',
    3: 'the configuration or a table is not valid',
    5: 'the database is unreachable, or has no table postern_audit',
  },
  examples: [
    'postern audit list',
    'postern audit list --since 7d --action user --subject alice',
    'postern audit list --action policy.push --output json | jq -r .[].after.revision',
    'postern audit list --limit 1000000 --output jsonl > audit.jsonl',
  ],
} as const satisfies CommandSpec
