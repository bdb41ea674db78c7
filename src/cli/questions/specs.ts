import { type CommandSpec, configOption, outputOption } from '../command.ts'

const tableOption = {
  output: {
    value: 'FORMAT',
    choices: ['text', 'json', 'csv'],
    default: 'text',
    description: 'output format: text, json or csv',
  },
} as const

/** The options by which a user says what a question is about. */
export const askedOptions = {
  policies: {
    value: 'DIR',
    description:
      'policy directory to ask about, or a commit as git:REF or git:REF:PATH (default: the live revision if policy.source is redis, else policy.directory)',
  },
  revision: {
    value: 'REVISION|live',
    description: 'published policy to ask about: the live one or a revision of the history',
  },
  domain: {
    value: 'DOMAIN',
    once: true,
    description:
      "domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough)",
  },
  at: {
    value: 'TIME',
    description:
      'answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now)',
  },
  host: {
    value: 'HOST',
    description:
      'answer for requests to this host, such as api.example.com (default: a host that no route names)',
  },
  ...configOption,
} as const

export const explainSpec = {
  name: 'policy explain',
  summary: 'show whether a caller may make a call, and which rule decides',
  details: `Answers with the code that decides in the gateway, for a caller with a valid token: the route or
endpoint, the deciding step and rule with its line, and for a denied call the rules that nearly match.

Name a role, or let --user find the role of an account in the configured database, or --token that of
a token, which is verified as the gateway does. An account that cannot log in and a token that the
gateway rejects get the answer of a request without a token; --anonymous asks for that answer.

Works offline unless the policy is published or --user or --token is given. Rate limits, request
headers and bodies are not considered.`,
  usage: [
    'ROLE METHOD PATH [OPTIONS]',
    '--user NAME METHOD PATH [OPTIONS]',
    '--token - METHOD PATH [OPTIONS]',
    '--anonymous METHOD PATH [OPTIONS]',
  ],
  arguments: [
    {
      name: 'ROLE',
      unless: ['user', 'token', 'anonymous'],
      description: 'role key, such as editor; put -- before one that starts with a dash',
    },
    { name: 'METHOD', description: 'HTTP method, such as GET' },
    {
      name: 'PATH',
      description: 'request path, or https://HOST/PATH; the policy does not see a query string',
    },
  ],
  options: {
    user: { value: 'NAME', once: true, description: 'ask for the role of this account' },
    token: {
      value: 'TOKEN|-',
      once: true,
      description:
        'ask for the owner of this token; - reads it from stdin, out of the shell history',
    },
    anonymous: { description: 'ask for a caller without a token' },
    ...outputOption,
    ...askedOptions,
  },
  exitCodes: {
    0: 'allowed',
    1: 'denied or refused',
    3: 'the policy or the configuration is not valid',
    5: 'Redis or the database is unreachable, nothing is published, or the revision or the account does not exist',
  },
  examples: [
    'postern policy explain viewer DELETE /api/v1/orders/7',
    "postern policy explain viewer GET '/api/v1/orders/a%20b?page=2'",
    'postern policy explain --user ann DELETE /api/v1/orders/7',
    'postern policy explain --token - DELETE /api/v1/orders/7 < token.txt',
    'postern policy explain --anonymous GET /api/v1/orders',
    'postern policy explain clerk GET https://api.example.com/api/v1/orders',
    'postern policy explain clerk POST /api/v1/orders --policies ../new-policies',
    'postern policy explain clerk POST /api/v1/orders --policies git:main',
    'postern policy explain clerk POST /api/v1/orders --revision live --config production.yaml',
  ],
} as const satisfies CommandSpec

const couldNotAsk = {
  3: 'the policy or the configuration is not valid',
  5: 'Redis is unreachable, nothing is published, or the revision does not exist',
} as const

export const whoSpec = {
  name: 'policy who',
  summary: 'list the roles that may make a call',
  details: `Answers with the code that decides in the gateway: every role that may make the call, the rule by
which it may with its line, and the role that it inherits the rule from. Exclusions and routes that
let everyone through, and paths that the gateway refuses, are named instead of roles. The role admin
may make every call that is not refused.

With --accounts, counts the accounts of each role in the configured database, without changing it.
Works offline unless the policy is published or --accounts is given. In CSV, an apostrophe precedes
text that a spreadsheet would evaluate as a formula.`,
  arguments: [
    { name: 'METHOD', description: 'HTTP method, such as GET' },
    { name: 'PATH', description: 'request path, or https://HOST/PATH; a query string is ignored' },
  ],
  options: {
    accounts: { description: 'count the accounts of each role in the configured database' },
    ...tableOption,
    ...askedOptions,
  },
  exitCodes: {
    0: 'a role besides admin may make the call',
    1: 'only admin may, or the gateway refuses the call to everyone',
    ...couldNotAsk,
  },
  examples: [
    'postern policy who DELETE /api/v1/orders/7',
    'postern policy who GET /api/v1/orders --accounts',
    'postern policy who PUT /api/v1/orders/7 --revision live --config production.yaml',
    "postern policy who DELETE /api/v1/orders/7 --output json | jq -r '.roles[].roleKey'",
  ],
} as const satisfies CommandSpec

export const canSpec = {
  name: 'policy can',
  summary: 'list everything that a role may do',
  details: `Lists the rules that apply to the role, its own and inherited ones, by the route that serves them,
with the deny rules that take calls away; then rules on paths that no route serves, rules without
effect, and what every caller may do anyway.

With --compare, lists what one role may do and the other may not: by access, not by line. A rule that
the other role has in another form is not a difference. Works offline unless the policy is published.`,
  arguments: [{ name: 'ROLE', description: 'role key, such as editor' }],
  options: {
    compare: { value: 'ROLE', description: 'show the differences from this role instead' },
    ...tableOption,
    ...askedOptions,
  },
  exitCodes: {
    0: 'a rule allows the role something; with --compare, something that the other role may not do',
    1: 'no rule allows it anything more, or the policy does not name the role',
    ...couldNotAsk,
  },
  examples: [
    'postern policy can editor',
    'postern policy can editor --compare viewer',
    'postern policy can contractor --compare employee && echo contractors may do more',
    'postern policy can clerk --output csv > clerk.csv',
    'postern policy can clerk --revision live --config production.yaml',
  ],
} as const satisfies CommandSpec

export const openSpec = {
  name: 'policy open',
  summary: 'list every endpoint that needs no permission',
  details: `Lists the endpoints of the gateway itself, public and authenticated routes, and exclusions, each with
the reason that the files give, and exclusions without effect. Works offline unless the policy is
published.`,
  arguments: [],
  options: { ...outputOption, ...askedOptions },
  exitCodes: { 0: 'listed', ...couldNotAsk },
  examples: [
    'postern policy open',
    'postern policy open --revision live --config production.yaml > open-endpoints.txt',
    "postern policy open --output json | jq '.routes'",
  ],
} as const satisfies CommandSpec

export const matrixSpec = {
  name: 'policy matrix',
  summary: 'print a table of roles and operations',
  details: `A row for each method and path that a rule, an exclusion or a document of policy.openapi names and a
route serves, a column for each role: whether it may make all of the calls, some or none, and through
what. The HTML page is one file that loads nothing and works without scripts. In CSV, an apostrophe
precedes text that a spreadsheet would evaluate as a formula. Works offline unless the policy is
published.

In JSON, an operation lists the roles that may do something with it. With --compact, it has a letter for
each role instead, which "cells" explains: a few hundred KB for 200 roles and 2,000 operations.`,
  arguments: [],
  options: {
    output: {
      value: 'FORMAT',
      choices: ['text', 'json', 'csv', 'markdown', 'html'],
      default: 'text',
      description: 'output format: text, json, csv, markdown or html',
    },
    compact: { description: 'with --output json, one letter for each role of an operation' },
    ...askedOptions,
  },
  exitCodes: {
    0: 'printed',
    1: 'not printed: Casbin evaluates the model, and the matrix is too large for it',
    ...couldNotAsk,
  },
  examples: [
    'postern policy matrix',
    'postern policy matrix --output html > matrix.html',
    'postern policy matrix --output csv --revision live --config production.yaml > matrix.csv',
  ],
} as const satisfies CommandSpec
