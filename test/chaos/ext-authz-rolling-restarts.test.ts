import { describe, expect, test } from 'vitest'
import {
  areHealthy,
  envoyConfig,
  http2Cluster,
  plainCluster,
  typeOf,
  whyNoEnvoy,
} from '../support/envoy-config.ts'
import { createProxiedClient } from '../support/proxied-client.ts'
import { startProxy } from '../support/proxy-process.ts'
import { freePort } from '../support/redis-server.ts'
import { rollingRestarts } from '../support/rolling-restarts.ts'
import type { Endpoint, ServiceClient } from '../support/service-client.ts'

const leftOut = whyNoEnvoy()
if (leftOut !== undefined) {
  console.warn(`left out: rolling restarts of gateways that an Envoy asks over gRPC; ${leftOut}`)
}

/** A client of an Envoy in front of the service, which asks the gateways about every request. */
async function behindEnvoy(
  endpoints: readonly Endpoint[],
  service: { readonly port: number },
): Promise<ServiceClient> {
  const adminPort = await freePort()
  const disabled = {
    '@type': typeOf('filters.http.ext_authz.v3.ExtAuthzPerRoute'),
    disabled: true,
  }
  const config = envoyConfig({
    adminPort,
    ownRoute: { typed_per_filter_config: { ext_authz: disabled } },
    routes: [{ match: { prefix: '/' }, route: { cluster: 'service', timeout: '60s' } }],
    filters: [
      {
        name: 'ext_authz',
        typed_config: {
          '@type': typeOf('filters.http.ext_authz.v3.ExtAuthz'),
          failure_mode_allow: false,
          transport_api_version: 'V3',
          encode_raw_headers: true,
          // Long enough for a busy machine: a check that is late is not one that is lost.
          grpc_service: { envoy_grpc: { cluster_name: 'gateways' }, timeout: '60s' },
        },
      },
    ],
    clusters: [
      http2Cluster(
        'gateways',
        endpoints.map(({ forwardAuthPort = 0 }) => ({ port: forwardAuthPort })),
        { grpc_health_check: {} },
      ),
      plainCluster('service', [service]),
    ],
  })
  const port = await startProxy('envoy', { postern: 0, asked: 0, backend: 0 }, () => config)
  return createProxiedClient(port, () => areHealthy(adminPort, 'gateways'))
}

describe.skipIf(leftOut !== undefined)('an Envoy that asks two gateways over gRPC', () => {
  test('fails no request while they are restarted in turn', async () => {
    const restarts = 2
    const { exitCodes, calls, failed, reasons } = await rollingRestarts({
      restarts,
      perSecond: 50,
      forwardAuth: true,
      // So that Envoy on a busy machine notices in time.
      shutdown: { graceMs: 8000 },
      client: behindEnvoy,
    })

    expect({ failed, reasons }).toEqual({ failed: {}, reasons: [] })
    expect(exitCodes).toEqual(Array(restarts).fill(0))
    expect(calls['POST']).toBeGreaterThan(20)
  })
})
