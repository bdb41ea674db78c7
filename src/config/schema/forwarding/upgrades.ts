import { PROTOCOL } from '../patterns.ts'
import { milliseconds, section, string } from '../setting-builders.ts'
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
  idleTimeoutMs: milliseconds(300_000, 1, 'Idle timeout of upgraded connections'),
})
