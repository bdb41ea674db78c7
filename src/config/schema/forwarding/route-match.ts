import { HTTP_METHOD, ROUTE_NAME } from '../patterns.ts'
import { hostNames, optionalString, string } from '../setting-builders.ts'
import { Type } from '../type.ts'

/** What a route matches besides its path. */
export const routeMatch = {
  name: optionalString(
    { pattern: ROUTE_NAME },
    'Name of the route in logs, metrics and messages; unique. Unset: what the route matches, such as its path.',
  ),
  match: Type.Optional(
    Type.Enum(['prefix', 'exact'], {
      description:
        'How path is compared. prefix: it and everything below it; exact: only this path. An exact path takes precedence. Unset: prefix.',
    }),
  ),
  hosts: hostNames(
    'api.example.com',
    'Hosts of the route. An exact host takes precedence over a wildcard, a longer wildcard over a shorter one. Unset: any host.',
  ),
  methods: Type.Optional(
    Type.Array(string({ pattern: HTTP_METHOD }, 'Method in upper case, such as GET.'), {
      minItems: 1,
      maxItems: 40,
      uniqueItems: true,
      description:
        'Methods of the route; others go to the next route that matches. GET does not include HEAD. Unset: any method.',
    }),
  ),
}
