// http-proxy-middleware on node:http that checks and logs nothing.
import { Agent } from 'node:http'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { listen } from './node-listener.mjs'

const pass = createProxyMiddleware({
  target: process.env.UPSTREAM,
  agent: new Agent({ keepAlive: true, maxSockets: 1024, maxFreeSockets: 1024 }),
})

listen((request, reply) => {
  pass(request, reply, () => reply.writeHead(404).end()).catch(() => reply.destroy())
})
