import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import type { PageFile } from '../kernel/built-pages.ts'
import type { ConsoleGuard } from './access/guard.ts'
import { securityHeaders } from './headers.ts'
import type { IsOwnHost } from './hosts.ts'
import { Problem } from './problem.ts'
import type { ReplyError } from './replies.ts'

/** The certificate of the console, and its successors. */
interface ConsoleTls {
  readonly current: () => { readonly cert: string; readonly key: string }
  readonly onChange: (
    listener: (pair: { readonly cert: string; readonly key: string }) => void,
  ) => void
}

interface ConsoleServerParts {
  readonly pages: readonly PageFile[]
  readonly isOwnHost: IsOwnHost
  readonly guard: ConsoleGuard
  readonly replyError: ReplyError
  readonly tls: ConsoleTls | undefined
  /** Each adds routes below `/console/api/v1`. */
  readonly routes: readonly ((scope: FastifyInstance) => void)[]
}

/** Below this path is the management API; a later version has another one. */
export const apiPrefix = '/console/api/v1'

/** A policy of 10,000 rules has about a megabyte. */
const maxBodyBytes = 8_388_608
const maxConnections = 200
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 30_000,
  // Node looks for late requests only so often.
  connectionsCheckingInterval: 1000,
}
/** For a client that neither sends nor reads. Streams send something more often. */
const idleTimeoutMs = 60_000

/** The listener of the console: pages from a closed list, and the management API. */
export function createConsoleServer(parts: ConsoleServerParts): FastifyInstance {
  const server = fastify({
    logger: false,
    bodyLimit: maxBodyBytes,
    // RFC 9110 9.1: a server that answers GET also answers HEAD.
    exposeHeadRoutes: true,
    forceCloseConnections: true,
    clientErrorHandler: refuseMalformed,
    serverFactory: (handler) => createHttpServer(handler as RequestListener, parts.tls),
  })

  server.addHook('onRequest', async (request, reply) => {
    void reply.headers(securityHeaders)
    // The router reads `*` as `/`, and ignores the host of an absolute address.
    if (!request.raw.url?.startsWith('/')) throw new Problem(400, 'malformed request')
    // RFC 9112 3.2. Node keeps the first, and a proxy in front may have read the other.
    const { host: hosts = [] } = request.raw.headersDistinct
    if (hosts.length > 1) throw new Problem(400, 'malformed request')
    if (parts.isOwnHost(request.headers.host)) return
    throw new Problem(421, 'the console does not answer to this host; set console.url to it')
  })
  server.setErrorHandler((error, request, reply) => parts.replyError(error, request, reply))
  server.setNotFoundHandler((request, reply) =>
    parts.replyError(new Problem(404, 'not found'), request, reply),
  )
  readOnlyJson(server)

  addPages(server, parts.pages)
  void server.register(
    (scope, _, done) => {
      parts.guard.protect(scope)
      for (const add of parts.routes) add(scope)
      done()
    },
    { prefix: apiPrefix },
  )
  return server
}

function addPages(server: FastifyInstance, pages: readonly PageFile[]): void {
  for (const { path, type, isHashed, bytes } of pages) {
    const caching = isHashed ? 'public, max-age=31536000, immutable' : 'no-cache'
    server.get(`/console/${path === 'index.html' ? '' : path}`, (_, reply) => {
      void reply.headers({ 'content-type': type, 'cache-control': caching }).send(bytes)
    })
  }
  for (const path of ['/', '/console']) {
    server.get(path, (_, reply) => void reply.redirect('/console/', 302))
  }
}

/** One type of body: others have made servers skip their checks (CVE-2026-25223). */
function readOnlyJson(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error')
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    (request, body, done): void => {
      // A request without fields, such as a logout.
      if (body === '') done(null, {})
      else void parse(request, body as string, done)
    },
  )
}

function createHttpServer(handler: RequestListener, tls: ConsoleTls | undefined): Server {
  const server =
    tls === undefined
      ? createServer(timeouts, handler)
      : createTlsServer({ ...timeouts, ...tls.current(), minVersion: 'TLSv1.2' }, handler)
  if ('setSecureContext' in server) tls?.onChange((pair) => server.setSecureContext(pair))
  server.maxConnections = maxConnections
  server.setTimeout(idleTimeoutMs)
  return server
}

/** For bytes that are not a request: no text of the parser reaches the client. */
function refuseMalformed(_: Error, socket: Socket): void {
  if (!socket.writable) return
  socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
}
