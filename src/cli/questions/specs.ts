import { askedFields } from '../../operations/policy/fields.ts'
import { type CommandSpec, configOption, outputOption } from '../command.ts'

/** The options by which a user says what a question is about. */
export const askedOptions = { ...askedFields, ...configOption } as const

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

/** The exit codes of a question about a policy that cannot be answered. */
export const couldNotAsk = {
  3: 'the policy or the configuration is not valid',
  5: 'Redis is unreachable, nothing is published, or the revision does not exist',
} as const
