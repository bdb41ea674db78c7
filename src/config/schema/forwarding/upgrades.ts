import { PROTOCOL } from '../patterns.ts'
import { DAY_MS, integer, section } from '../setting-builders.ts'
import { Type } from '../type.ts'

export const upgradesSettings = section('Upgraded connections, such as WebSocket.', {
  protocols: Type.Array(
    Type.String({
      pattern: PROTOCOL,
      description: 'Protocol as in the Upgrade header, in lower case.',
    }),
    {
      default: ['websocket'],
      maxItems: 16,
      uniqueItems: true,
      description:
        'Protocols that clients may upgrade to, after the same checks as for any request.',
    },
  ),
  idleTimeoutMs: integer(
    300_000,
    1,
    DAY_MS,
    'Idle timeout of upgraded connections, in milliseconds.',
  ),
})
