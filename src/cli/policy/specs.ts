import { type CommandSpec, configOption, outputOption } from '../command.ts'

/** The policy directory of a command. */
export const directoryArgument = {
  name: 'DIR',
  optional: true,
  description: 'policy directory (default: policy.directory of the configuration, else policies)',
} as const

export const importSpec = {
  name: 'policy import',
  summary: 'import a policy from go-admin or Casbin',
  details: `Reads the table casbin_rule or sys_casbin_rule of a go-admin database (database.url), or the key that
casbin-redis-adapter keeps in Redis (redis.url), without changing them. Lists every row that it
cannot import, with the reason. Writes the whole directory or nothing.

The directory gets an initial list of exclusions. From go-admin's own list, business endpoints become
comments; --all-exclusions makes them entries, with a warning for each. Run "postern policy check"
on the result before you publish it.

With --update, DIR is an existing policy directory: policy.csv is replaced, and model.conf,
exclusions.yaml, other tables and tests stay as they are.`,
  arguments: [
    {
      name: 'SOURCE',
      choices: ['database', 'redis'],
      description: 'database (go-admin) or redis (casbin-redis-adapter)',
    },
    { name: 'DIR', description: 'directory to create; with --update, the one to change' },
  ],
  options: {
    table: {
      value: 'NAME',
      description: 'database: table to read (default: the one that has rows)',
    },
    'all-exclusions': { description: "database: import all of go-admin's exclusions" },
    update: { description: 'replace the rules of an existing directory, and keep everything else' },
    key: { value: 'NAME', description: 'redis: key to read (default: policies)' },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'every row was imported unchanged',
    1: 'rows were skipped or narrowed, or the source has no rows',
    3: 'nothing was written: the result or the configuration is not valid',
    5: 'nothing was written: the source is unreachable, or the directory cannot be written',
  },
  examples: [
    'POSTERN_DATABASE__URL=postgres://… postern policy import database imported',
    'postern policy import database imported --table sys_casbin_rule',
    'postern policy import database policies --update',
    'POSTERN_REDIS__URL=redis://… postern policy import redis imported --key policies',
  ],
} as const satisfies CommandSpec
