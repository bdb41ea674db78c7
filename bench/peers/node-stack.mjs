// The straightforward way to do the same job on Node: fastify, @fastify/http-proxy, jose, casbin,
// with fastify's own log. RULES is a casbin policy, MODEL its model.
import { readFileSync } from 'node:fs'
import proxy from '@fastify/http-proxy'
import { newEnforcer, newModelFromString, StringAdapter } from 'casbin'
import fastify from 'fastify'
import { jwtVerify } from 'jose'
import { port, secure } from './node-listener.mjs'

const secret = new TextEncoder().encode(process.env.SECRET)
const enforcer = await newEnforcer(
  newModelFromString(readFileSync(process.env.MODEL, 'utf8')),
  new StringAdapter(readFileSync(process.env.RULES, 'utf8')),
)

const app = fastify({ logger: true, keepAliveTimeout: 3_600_000, ...(secure && { https: secure }) })

async function check(request, reply) {
  const [scheme, token = ''] = (request.headers.authorization ?? '').split(' ')
  let claims
  try {
    if (scheme !== 'Bearer') throw new Error('no token')
    claims = (await jwtVerify(token, secret, { algorithms: ['HS256'] })).payload
  } catch {
    return reply.code(401).send({ code: 401, msg: 'not logged in' })
  }
  const [path] = request.url.split('?')
  if (!(await enforcer.enforce(claims.rolekey, path, request.method))) {
    return reply.code(403).send({ code: 403, msg: 'not permitted' })
  }
  request.claims = claims
}

await app.register(proxy, {
  upstream: process.env.UPSTREAM,
  retryMethods: [],
  undici: { connections: 1024, pipelining: 1 },
  preHandler: check,
  replyOptions: {
    rewriteRequestHeaders: ({ claims }, { authorization: _, ...headers }) => ({
      ...headers,
      'x-user-id': String(claims.identity),
      'x-role-key': claims.rolekey,
      'x-data-scope': claims.datascope,
    }),
  },
})
await app.listen({ port, host: '127.0.0.1', backlog: 4096 })
