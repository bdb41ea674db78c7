import { createServer } from 'node:http'
import { callerFromHeaders, createAssertionCheck } from './caller.ts'

// node main.ts, Node 22.18 or later; nothing to install.
const {
  PORT = '8080',
  JWKS_URL = 'http://127.0.0.1:9100/.well-known/jwks.json',
  ISSUER = 'postern',
  AUDIENCE = 'orders',
} = process.env
const check = createAssertionCheck({ jwksUrl: JWKS_URL, issuer: ISSUER, audience: AUDIENCE })

const server = createServer(async (request, reply) => {
  const assertion = String(request.headers['x-postern-assertion'] ?? '')
  const asserted = await check(assertion).catch((error: Error) => ({ refused: error.message }))
  const refused = 'refused' in asserted
  reply.writeHead(refused ? 401 : 200, { 'Content-Type': 'application/json' })
  reply.end(
    `${JSON.stringify({ asserted, headers: callerFromHeaders(request.headers) ?? null })}\n`,
  )
})
server.listen(Number(PORT), '127.0.0.1')
