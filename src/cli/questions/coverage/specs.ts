import { type CommandSpec, reportOption } from '../../command.ts'
import { askedOptions } from '../specs.ts'

export const coverageSpec = {
  name: 'policy coverage',
  summary: 'compare OpenAPI documents with the access that a policy grants',
  details: `Lists the operations that declare security but need no token or no permission, those that the gateway
refuses to everyone or has no route for, and those that only admin may call; then the rules and
exclusions that match no operation, with the nearest one, and how many operations each rule with "*"
matches. Decides as the gateway does: routes, own endpoints, exclusions, rules.

Reads OpenAPI 2.0, 3.0 and 3.1 as JSON or YAML. "$ref" leads to files in the folder of the document
only. The paths of "servers" (2.0: "basePath") count as part of each path unless you give --base.`,
  arguments: [
    {
      name: 'DOCUMENT',
      accepts: 'FILE',
      many: true,
      description: 'OpenAPI documents, JSON or YAML',
    },
  ],
  options: {
    base: {
      value: 'PATH',
      description:
        'base path of all operations, in place of servers and basePath; / for no base path',
    },
    strict: {
      description: 'exit with 1 if an operation is too open, unreachable or for admin only',
    },
    ...reportOption,
    ...askedOptions,
  },
  exitCodes: {
    0: 'compared; with --strict, no operation is too open, unreachable or for admin only',
    1: 'with --strict, an operation is too open, unreachable or for admin only',
    3: 'a document, the policy or the configuration is not valid',
    5: 'Redis is unreachable, nothing is published, or the revision does not exist',
  },
  examples: [
    'postern policy coverage openapi.yaml',
    'postern policy coverage orders.yaml articles.json --strict',
    'postern policy coverage openapi.yaml --base /api/v1 --policies ../new-policies',
    'postern policy coverage openapi.yaml --revision live --output sarif > coverage.sarif',
  ],
} as const satisfies CommandSpec
