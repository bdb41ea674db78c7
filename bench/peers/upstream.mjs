// The upstream where there is no nginx. Its time is not counted, but it competes for the cores.
import { createServer } from 'node:http'

const large = Buffer.alloc(100 * 1024, 'x')
let requests = 0

const server = createServer((request, reply) => {
  requests++
  if (request.url.endsWith('/large')) {
    reply.setHeader('Content-Type', 'application/octet-stream')
    reply.end(large)
    return
  }
  const { headers } = request
  request.resume()
  reply.setHeader('Content-Type', 'application/json')
  reply.end(
    JSON.stringify({
      user: headers['x-user-id'] ?? '',
      role: headers['x-role-key'] ?? '',
      scope: headers['x-data-scope'] ?? '',
      credentials: headers.authorization === undefined ? 'no' : 'yes',
      path: request.url,
    }),
  )
})
server.keepAliveTimeout = 3_600_000
server.listen(Number(process.env.PORT), '127.0.0.1', 4096)

// The same words as nginx's stub_status.
createServer((_, reply) => reply.end(`server accepts handled requests\n 0 0 ${requests}\n`)).listen(
  Number(process.env.STATUS_PORT),
  '127.0.0.1',
)
