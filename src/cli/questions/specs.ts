import { type CommandSpec, configOption, outputOption } from '../command.ts'

export const explainSpec = {
  name: 'policy explain',
  summary: 'show whether a role may make a call, and which rule decides',
  details: `Answers with the code that decides in the gateway, for a caller with this role and a valid token:
the route or endpoint, the deciding step and rule with its line, and for a denied call the rules that
nearly match. Works offline unless you name a revision or "live".`,
  arguments: [
    { name: 'ROLE', description: 'role key, such as editor' },
    { name: 'METHOD', description: 'HTTP method, such as GET' },
    { name: 'PATH', description: 'request path; a query string is ignored' },
  ],
  options: {
    policies: {
      value: 'DIR|REVISION|live',
      description: 'policy to use (default: policy.directory of the configuration, else policies)',
    },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'allowed',
    1: 'denied or refused',
    3: 'the policy or the configuration is not valid',
    5: 'Redis is unreachable, nothing is published, or the revision does not exist',
  },
  examples: [
    'postern policy explain viewer DELETE /api/v1/orders/7',
    "postern policy explain viewer GET '/api/v1/orders/a%20b?page=2'",
    'postern policy explain clerk POST /api/v1/orders --policies ../new-policies',
    'postern policy explain clerk POST /api/v1/orders --policies live --config production.yaml',
  ],
} as const satisfies CommandSpec
