import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Upload, UploadSink } from '../../src/wire/request-head.ts'
import { callMany } from '../support/callers.ts'
import { startH2Pool } from '../support/h2-pool.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { runNginx } from '../support/nginx.ts'
import { freePort } from '../support/redis-server.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { send } from '../support/wire-call.ts'

const hasNginx = process.env['POSTERN_TEST_NGINX'] !== ''
const headers = { Authorization: `Bearer ${tokenOf('admin')}` }

/** Answers with method and length, and can be ended as a rollout ends it, and started again. */
async function startRollingServer(atPort: number) {
  let stop = async () => {}
  let leave = () => {}
  async function start(): Promise<void> {
    const sessions = new Set<ServerHttp2Session>()
    const server = createServer()
    server.on('session', (session) => {
      sessions.add(session)
      session.on('close', () => sessions.delete(session))
    })
    server.on('stream', (stream, { ':method': method }) => {
      let bytes = 0
      stream.on('error', () => {})
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      stream.on('end', () => {
        setTimeout(() => {
          if (stream.closed) return
          stream.respond({ ':status': 200 })
          stream.end(`${method} ${bytes}`)
        }, Math.random() * 20)
      })
    })
    server.listen(atPort, '127.0.0.1')
    await once(server, 'listening')
    leave = () => {
      for (const session of sessions) session.close()
    }
    stop = async () => {
      server.close()
      leave()
      await until(() => sessions.size === 0)
    }
  }
  await start()
  onTestFinished(() => stop())
  return { origin: `http://127.0.0.1:${atPort}`, start, stop: () => stop(), leave: () => leave() }
}

describe('services that are restarted one after the other', () => {
  test.each([1, 2])('lose no request, POSTs included, with %i of them', async (count) => {
    const servers = await Promise.all(
      Array.from({ length: count }, async () => startRollingServer(await freePort())),
    )
    const { gateway } = await startLoneGateway({
      upstreams: {
        backend: {
          targets: servers.map(({ origin }) => origin),
          protocol: 'h2c',
          http2: { streams: 20 },
        },
      },
    })
    let isDone = false
    let restarts = 0
    const restarting = (async () => {
      for (; !isDone; restarts++) {
        for (const server of servers) {
          // A single one goes on listening, as with a socket that is passed on.
          if (count === 1) server.leave()
          else {
            await server.stop()
            await server.start()
          }
          // Long enough for the gateway to find out that it is back.
          await pause(1500)
        }
      }
    })()

    const { failed, reasons } = await callMany({
      port: gateway.publicPort,
      headers,
      callers: 50,
      requests: 6000,
      pauseMs: [0, 150],
    })
    isDone = true
    await restarting

    console.log(`restarts: ${restarts}`)
    expect(restarts).toBeGreaterThan(1)
    expect({ failed, reasons }).toEqual({ failed: { GET: 0, POST: 0 }, reasons: [] })
  })
})

describe('nginx', () => {
  test.runIf(hasNginx)(
    'is asked again for what it has not processed when it sends GOAWAY',
    async () => {
      const port = await freePort()
      await runNginx(
        `server {
         listen 127.0.0.1:${port} http2;
         client_max_body_size 0;
         keepalive_requests 50;
         location /echo { return 200 "$request_method $server_protocol"; }
       }`,
        port,
      )
      const pool = startH2Pool(`http://127.0.0.1:${port}`, { connections: 30 })

      // More than `keepalive_requests`: it sends GOAWAY time and again.
      const bodies = await Promise.all(
        Array.from({ length: 500 }, async () => {
          for (;;) {
            const call = await send(pool, { path: '/echo' }).over
            if (call.error()?.sent !== false) return call.error()?.message ?? call.body()
          }
        }),
      )

      expect(new Set(bodies)).toEqual(new Set(['GET HTTP/2.0']))
    },
  )

  if (!hasNginx) console.log('left out: nginx is not installed')
})

/** A body of zeros as fast as it is taken. */
function zeros(bytes: number): Upload & { readonly sent: () => number } {
  const chunk = Buffer.alloc(65_536)
  let sink: UploadSink | undefined
  let sent = 0
  function pump(): void {
    while (sink !== undefined && sent < bytes) {
      sent += chunk.length
      if (!sink.data(chunk)) return
    }
    sink?.end()
    sink = undefined
  }
  return {
    length: undefined,
    start(to) {
      sink = to
      pump()
    },
    resume: () => setImmediate(pump),
    stop() {
      sink = undefined
    },
    sent: () => sent,
  }
}

describe('a body of 1 GiB', () => {
  const bytes = 1_073_741_824
  const memory = () => {
    const { rss, external, heapUsed } = process.memoryUsage()
    return { rss, live: external + heapUsed }
  }

  test('passes in both directions with constant memory', async () => {
    let received = 0
    const server = createServer()
    server.on('stream', (stream, { ':method': method }) => {
      stream.on('error', () => {})
      if (method === 'POST') {
        stream.on('data', (chunk: Buffer) => {
          received += chunk.length
        })
        stream.on('end', () => {
          stream.respond({ ':status': 204 })
          stream.end()
        })
      } else {
        stream.respond({ ':status': 200, 'content-length': bytes })
        createReadStream('/dev/zero', { end: bytes - 1, highWaterMark: 262_144 }).pipe(stream)
      }
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const pool = startH2Pool(origin)
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, memory().live)
    }, 50)
    onTestFinished(() => clearInterval(watch))
    const before = memory().live

    const upload = zeros(bytes)
    const up = await send(pool, { method: 'POST', upload }).over
    let down = 0
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    pool.send(
      {
        method: 'GET',
        path: '/',
        host: undefined,
        headers: [],
        upload: undefined,
        upgrade: undefined,
      },
      {
        sent() {},
        complete() {},
        head() {},
        data(chunk) {
          down += chunk.length
          return true
        },
        end: () => resolve(),
        upgraded() {},
        failed: reject,
      },
    )
    await promise

    expect(up.head()?.status).toBe(204)
    expect([received, down]).toEqual([bytes, bytes])
    console.log(`most live memory above the start: ${Math.round((most - before) / 1_048_576)} MiB`)
    // Garbage that is not collected yet included.
    expect(most - before).toBeLessThan(400 * 1_048_576)
  })
})
