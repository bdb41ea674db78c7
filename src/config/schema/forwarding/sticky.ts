import { COOKIE_NAME } from '../patterns.ts'
import { Type } from '../type.ts'

/** Whether the clients of a route stay with a target. */
export const sticky = Type.Optional(
  Type.Object(
    {
      by: Type.Enum(['cookie', 'user'], {
        default: 'cookie',
        description:
          'What a client is recognized by. cookie: a cookie that the gateway sets; user: the user ID in the token, which public routes do not have.',
      }),
      cookie: Type.Optional(
        Type.String({
          pattern: COOKIE_NAME,
          description:
            'Name of the cookie. Upstreams never get a cookie with this name. Unset: postern-target.',
        }),
      ),
      seconds: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 31_536_000,
          description:
            'How long browsers keep the cookie, in seconds. Unset: until the browser is closed.',
        }),
      ),
    },
    {
      additionalProperties: false,
      description:
        'Send the requests of a client to the same target of the upstream while that is available. {}: by cookie. Unset: every request goes to the target that balance chooses.',
    },
  ),
)
