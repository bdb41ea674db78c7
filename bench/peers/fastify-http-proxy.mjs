// @fastify/http-proxy that checks and logs nothing.
import proxy from '@fastify/http-proxy'
import fastify from 'fastify'
import { port, secure } from './node-listener.mjs'

const app = fastify({ keepAliveTimeout: 3_600_000, ...(secure && { https: secure }) })
await app.register(proxy, {
  upstream: process.env.UPSTREAM,
  retryMethods: [],
  undici: { connections: 1024, pipelining: 1 },
})
await app.listen({ port, host: '127.0.0.1', backlog: 4096 })
