import { PROTOCOL } from '../patterns.ts'
import { list, milliseconds, section, string } from '../setting-builders.ts'

export const upgradesSettings = section('Upgraded connections, such as WebSocket.', {
  protocols: list(
    string({ pattern: PROTOCOL }, 'Protocol as in the Upgrade header, in lower case.'),
    { default: ['websocket'], maxItems: 16 },
    'Protocols that clients may upgrade to, after the same checks as for any request.',
  ),
  idleTimeoutMs: milliseconds(300_000, 1, 'Idle timeout of upgraded connections'),
})
