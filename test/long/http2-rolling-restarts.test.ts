import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { findHaproxy, startHaproxy } from '../support/haproxy.ts'
import { runNginx } from '../support/nginx.ts'
import { startProxy } from '../support/proxy-process.ts'
import { freePort } from '../support/redis-server.ts'
import { authorization, rollingRestarts } from '../support/rolling-restarts.ts'
import {
  createServiceClient,
  type Endpoint,
  type ServiceClient,
} from '../support/service-client.ts'
import { findProxy } from '../support/services/find-proxy.ts'
import { until } from '../support/until.ts'

/** A proxy that speaks HTTP/2 to the gateways, and 200 to `GET /readyz` itself; its port. */
type StartProxy = (endpoints: readonly Endpoint[]) => Promise<number>

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

function whyNoEnvoy(): string | undefined {
  try {
    findProxy('envoy')
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
const noEnvoy = whyNoEnvoy()
if (noEnvoy !== undefined) console.warn(`left out: rolling restarts behind Envoy; ${noEnvoy}`)

async function startEnvoy(endpoints: readonly Endpoint[]): Promise<number> {
  const type = (name: string) => `type.googleapis.com/envoy.extensions.${name}`
  const manager = type('filters.network.http_connection_manager.v3.HttpConnectionManager')
  const address = (port: number) => ({
    socket_address: { address: '127.0.0.1', port_value: port },
  })
  const config = {
    static_resources: {
      listeners: [
        {
          name: 'public',
          address: address(8088),
          filter_chains: [
            {
              filters: [
                {
                  name: 'http',
                  typed_config: {
                    '@type': manager,
                    stat_prefix: 'public',
                    route_config: {
                      virtual_hosts: [
                        {
                          name: 'all',
                          domains: ['*'],
                          routes: [
                            { match: { path: '/readyz' }, direct_response: { status: 200 } },
                            {
                              match: { prefix: '/' },
                              route: {
                                cluster: 'gateways',
                                timeout: '60s',
                                retry_policy: { retry_on: 'connect-failure,refused-stream' },
                              },
                            },
                          ],
                        },
                      ],
                    },
                    http_filters: [
                      {
                        name: 'router',
                        typed_config: { '@type': type('filters.http.router.v3.Router') },
                      },
                    ],
                  },
                },
              ],
            },
          ],
        },
      ],
      clusters: [
        {
          name: 'gateways',
          type: 'STATIC',
          connect_timeout: '5s',
          common_lb_config: { update_merge_window: '0s', healthy_panic_threshold: { value: 0 } },
          typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
              '@type': type('upstreams.http.v3.HttpProtocolOptions'),
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
          health_checks: [
            {
              timeout: '5s',
              interval: '0.1s',
              no_traffic_interval: '0.1s',
              unhealthy_threshold: 1,
              healthy_threshold: 1,
              http_health_check: { path: '/readyz', codec_client_type: 'HTTP1' },
            },
          ],
          load_assignment: {
            cluster_name: 'gateways',
            endpoints: [
              {
                lb_endpoints: endpoints.map(({ publicPort, opsPort }) => ({
                  endpoint: {
                    address: address(publicPort),
                    health_check_config: { port_value: opsPort },
                  },
                })),
              },
            ],
          },
        },
      ],
    },
  }
  // The port of the samples is replaced, with the space behind it.
  const text = stringify(config).replace('port_value: 8088', 'port_value: 8088 ')
  return startProxy('envoy', { postern: 0, asked: 0, backend: 0 }, () => text)
}

/** A client of the proxy. */
async function behind(start: StartProxy, endpoints: readonly Endpoint[]): Promise<ServiceClient> {
  const port = await start(endpoints)
  const proxy = { publicPort: port, opsPort: port }
  const client = createServiceClient([proxy], authorization)
  await client.inRotation(proxy)
  return {
    ...client,
    async inRotation({ opsPort }) {
      await until(() =>
        fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      // Until the proxy has noticed it too.
      await pause(1000)
    },
  }
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
      client: (endpoints) => behind(start, endpoints),
    })

    expect({ failed, reasons }).toEqual({ failed: {}, reasons: [] })
    expect(exitCodes).toEqual(Array(restarts).fill(0))
    expect(calls['POST']).toBeGreaterThan(20)
  },
)
