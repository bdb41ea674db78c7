// The floor for anything on Node: node:http in front, undici's dispatch behind. Checks nothing.

import { Pool } from 'undici'
import { listen } from './node-listener.mjs'

const upstream = new Pool(process.env.UPSTREAM, { connections: 1024, pipelining: 1 })

listen((request, reply) => {
  const { method, url: path, headers } = request
  const hasBody = headers['content-length'] !== undefined || 'transfer-encoding' in headers
  upstream.dispatch(
    { method, path, headers: passedOn(request.rawHeaders), body: hasBody ? request : null },
    {
      onRequestStart(controller) {
        reply.on('close', () => {
          if (!reply.writableEnded) controller.abort(new Error('the client is gone'))
        })
      },
      onResponseStart(controller, status, answered) {
        reply.on('drain', () => controller.resume())
        reply.writeHead(status, withoutHops(answered))
      },
      onResponseData(controller, chunk) {
        if (!reply.write(chunk)) controller.pause()
      },
      onResponseEnd() {
        reply.end()
      },
      onResponseError() {
        if (reply.headersSent) reply.destroy()
        else reply.writeHead(502).end()
      },
    },
  )
})

/** Hop-by-hop headers are for the next hop only (RFC 9110, 7.6.1). */
function isHop(name) {
  return name === 'connection' || name === 'keep-alive' || name === 'transfer-encoding'
}

function passedOn(raw) {
  const headers = []
  for (let at = 0; at < raw.length; at += 2) {
    if (!isHop(raw[at].toLowerCase())) headers.push(raw[at], raw[at + 1])
  }
  return headers
}

/** A copy: an object that something was deleted from is slower for all who read it. */
function withoutHops(headers) {
  const kept = {}
  for (const name in headers) {
    if (!isHop(name)) kept[name] = headers[name]
  }
  return kept
}
