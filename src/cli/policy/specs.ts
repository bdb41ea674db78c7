import { type CommandSpec, configOption, outputOption, reportOption } from '../command.ts'

/** The policy directory of a command. */
export const directoryArgument = {
  name: 'DIR',
  optional: true,
  description: 'policy directory (default: policy.directory of the configuration, else policies)',
} as const

export const diffSpec = {
  name: 'policy diff',
  summary: 'compare two policies by the access they grant',
  details: `Compares access, not lines: which role gains (+) or loses (-) which method on which path, and which
endpoints become reachable without a permission check. A rule that a wider rule already covered is
not a gain. One line for each changed rule, most severe first; roles that inherit it are counted.
Lines that expire are compared now and at every later end: what changes only then is listed under "from 2026-12-01 on".
Works offline unless you name a revision or "live". A commit needs no work tree.

Each change names the route of the configuration that serves it. Changes that have no effect at a
gateway with this configuration (access public or authenticated, no route) are listed separately.
They count for the exit code all the same, because several gateways can share a policy, and a route
can be added later; --this-gateway ignores them.`,
  arguments: [
    {
      name: 'FROM',
      accepts: 'DIR|REVISION|live',
      optional: true,
      description:
        'old policy: a directory, a commit (git:REF or git:REF:PATH), a revision or live (default: live)',
    },
    {
      name: 'TO',
      accepts: 'DIR|REVISION|live',
      optional: true,
      description: 'new policy (default: policy.directory of the configuration, else policies)',
    },
  ],
  options: {
    'this-gateway': {
      description: 'exit with 1 only if access widens at a gateway with this configuration',
    },
    ...reportOption,
    ...configOption,
  },
  exitCodes: {
    0: 'access stays the same or narrows',
    1: 'access widens',
    3: 'a policy or the configuration is not valid',
    5: 'Redis is unreachable, nothing is published, or the revision or commit does not exist',
  },
  examples: [
    'postern policy diff  # live against the configured directory',
    'postern policy diff r-3f2a9c81d604',
    'postern policy diff r-3f2a9c81d604 live',
    'postern policy diff policies ../new-policies',
    'postern policy diff git:main git:HEAD  # policy.directory in two commits',
    'postern policy diff git:v1.4:config/policies policies',
  ],
} as const satisfies CommandSpec

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
