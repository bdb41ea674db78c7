import { COOKIE_NAME } from '../patterns.ts'
import { optionalGroup, optionalInteger, optionalString } from '../setting-builders.ts'
import { Type } from '../type.ts'

/** Whether the clients of a route stay with a target. */
export const sticky = optionalGroup(
  'Send the requests of a client to the same target of the upstream while that is available. {}: by cookie. Unset: every request goes to the target that balance chooses.',
  {
    by: Type.Enum(['cookie', 'user'], {
      default: 'cookie',
      description:
        'What a client is recognized by. cookie: a cookie that the gateway sets; user: the user ID in the token, which public routes do not have.',
    }),
    cookie: optionalString(
      { pattern: COOKIE_NAME },
      'Name of the cookie. Upstreams never get a cookie with this name. Unset: postern-target.',
    ),
    seconds: optionalInteger(
      { from: 1, to: 31_536_000 },
      'How long browsers keep the cookie, in seconds. Unset: until the browser is closed.',
    ),
  },
)
