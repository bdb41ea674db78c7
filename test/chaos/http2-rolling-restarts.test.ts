import { expect, test } from 'vitest'
import { envoyConfig, http2Cluster, whyNoEnvoy } from '../support/envoy-config.ts'
import { findHaproxy, startHaproxy } from '../support/haproxy.ts'
import { runNginx } from '../support/nginx.ts'
import { createProxiedClient } from '../support/proxied-client.ts'
import { startProxy } from '../support/proxy-process.ts'
import { freePort } from '../support/redis-server.ts'
import { rollingRestarts } from '../support/rolling-restarts.ts'
import type { Endpoint } from '../support/service-client.ts'

// Each starts a proxy that speaks HTTP/2 to the gateways and answers `GET /readyz` itself, on the port it returns.

/** grpc_pass is how this nginx speaks HTTP/2 to servers; it passes requests other than gRPC as well. */
async function startNginx(endpoints: readonly Endpoint[]): Promise<number> {
  const port = await freePort()
  const servers = endpoints.map(({ publicPort }) => `server 127.0.0.1:${publicPort} max_fails=0;`)
  return runNginx(
    `upstream gateways { ${servers.join(' ')} keepalive 32; }
     server {
       listen 127.0.0.1:${port};
       location = /readyz { return 200; }
       location / { grpc_pass grpc://gateways; }
     }`,
    port,
  )
}

const haproxy = findHaproxy()
if (haproxy === undefined) console.warn('left out: rolling restarts behind HAProxy; it is not here')

async function startHaproxies(endpoints: readonly Endpoint[]): Promise<number> {
  const lines = ['http-request return status 200 if { path /readyz }']
  return startHaproxy(haproxy ?? '', 0, lines, [
    'option httpchk GET /readyz',
    'timeout check 60s',
    'option redispatch 1',
    ...endpoints.map(
      ({ publicPort, opsPort }, at) =>
        `server s${at} 127.0.0.1:${publicPort} proto h2 check check-proto h1 port ${opsPort} inter 100 fall 1 rise 1`,
    ),
  ])
}

const noEnvoy = whyNoEnvoy()
if (noEnvoy !== undefined) console.warn(`left out: rolling restarts behind Envoy; ${noEnvoy}`)

async function startEnvoy(endpoints: readonly Endpoint[]): Promise<number> {
  const route = {
    cluster: 'gateways',
    timeout: '60s',
    retry_policy: { retry_on: 'connect-failure,refused-stream' },
  }
  const config = envoyConfig({
    routes: [{ match: { prefix: '/' }, route }],
    clusters: [
      http2Cluster(
        'gateways',
        endpoints.map(({ publicPort, opsPort }) => ({ port: publicPort, healthPort: opsPort })),
        { http_health_check: { path: '/readyz', codec_client_type: 'HTTP1' } },
      ),
    ],
  })
  return startProxy('envoy', { postern: 0, asked: 0, backend: 0 }, () => config)
}

test.each([
  ['nginx', startNginx, false],
  ['HAProxy', startHaproxies, haproxy === undefined],
  ['Envoy', startEnvoy, noEnvoy !== undefined],
] as const)(
  'two gateways restarted in turn behind %s, over HTTP/2, fail no request',
  async (_, start, isLeftOut) => {
    if (isLeftOut) return
    const restarts = 4
    const { exitCodes, calls, failed, reasons } = await rollingRestarts({
      restarts,
      perSecond: 50,
      h2c: true,
      // So that a proxy on a busy machine notices in time.
      shutdown: { graceMs: 2000 },
      client: async (endpoints) => createProxiedClient(await start(endpoints)),
    })

    expect({ failed, reasons }).toEqual({ failed: {}, reasons: [] })
    expect(exitCodes).toEqual(Array(restarts).fill(0))
    expect(calls['POST']).toBeGreaterThan(20)
  },
)
