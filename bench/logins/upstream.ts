import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/* A service that answers at once, in a process of its own. Sends its port to its parent process. */
const server = createServer((_, reply) => reply.end('ok'))
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
// Whoever started it may end without a word.
process.on('disconnect', () => process.exit())
