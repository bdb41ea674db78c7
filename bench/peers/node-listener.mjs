// How the Node peers listen: plain, or with the certificate of this run.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'

const { PORT, CERTIFICATE, KEY } = process.env

/** The options of node:https, or nothing for plain HTTP. */
export const secure =
  CERTIFICATE === undefined
    ? undefined
    : { cert: readFileSync(CERTIFICATE), key: readFileSync(KEY) }

export const port = Number(PORT)

export function listen(handler) {
  const server = secure === undefined ? createServer(handler) : createSecureServer(secure, handler)
  server.keepAliveTimeout = 3_600_000
  server.listen({ port, host: '127.0.0.1', backlog: 4096 })
}
