import { PROTOCOL } from '../patterns.ts'
import { DAY_MS, integer, section, string } from '../setting-builders.ts'
import { Type } from '../type.ts'

export const upgradesSettings = section('Upgraded connections, such as WebSocket.', {
  protocols: Type.Array(
    string({ pattern: PROTOCOL }, 'Protocol as in the Upgrade header, in lower case.'),
    {
      default: ['websocket'],
      maxItems: 16,
      uniqueItems: true,
      description:
        'Protocols that clients may upgrade to, after the same checks as for any request.',
    },
  ),
  idleTimeoutMs: integer(
    { default: 300_000, from: 1, to: DAY_MS },
    'Idle timeout of upgraded connections, in milliseconds.',
  ),
})
