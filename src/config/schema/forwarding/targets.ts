import { group, integer } from '../setting-builders.ts'
import { Type } from '../type.ts'

const url = { minLength: 1, maxLength: 1024 }

/** The servers of an upstream. */
export const targets = Type.Array(
  Type.Union(
    [
      Type.String(url),
      group('Server with a weight.', {
        url: Type.String({
          ...url,
          description: 'Scheme, host and port of the server, such as http://orders:8080.',
        }),
        weight: integer(
          { default: 1, from: 0, to: 1000 },
          'Part of the requests that the server gets, in relation to the weights of the others. 0: no new requests.',
        ),
      }),
    ],
    {
      description:
        'Server of the upstream: scheme, host and port, such as http://orders:8080, or url and weight.',
    },
  ),
  {
    minItems: 1,
    maxItems: 256,
    uniqueItems: true,
    description:
      'Servers of the upstream, each as scheme, host and port, such as http://orders:8080, or as url and weight.',
  },
)
