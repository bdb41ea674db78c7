import { type CommandSpec, outputOption } from '../../command.ts'
import { askedOptions } from '../specs.ts'

export const namesSpec = {
  name: 'policy names',
  summary: 'list the roles, methods and paths that a policy and the routes name',
  details: `What other questions can be about, for completion in shells, editors and the console. Paths are the
patterns of rules, exclusions and routes, the endpoints of the gateway, and those of the documents of
policy.openapi. Works offline unless the policy is published.`,
  arguments: [],
  options: { ...outputOption, ...askedOptions },
  exitCodes: {
    0: 'listed',
    3: 'the policy or the configuration is not valid',
    5: 'Redis is unreachable, nothing is published, or the revision does not exist',
  },
  examples: [
    'postern policy names',
    "postern policy names --output json | jq -r '.roles[]'",
    "postern policy names --output json | jq -r '.operations[].path' | sort -u",
  ],
} as const satisfies CommandSpec
