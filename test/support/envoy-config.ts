import { stringify } from 'yaml'
import { findProxy } from './services/find-proxy.ts'

/** Why Envoy cannot be run here, if it cannot. */
export function whyNoEnvoy(): string | undefined {
  try {
    findProxy('envoy')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

type Part = Readonly<Record<string, unknown>>

/** The full name of a type of Envoy's extensions. */
export const typeOf = (name: string) => `type.googleapis.com/envoy.extensions.${name}`

const address = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } })

interface EnvoyParts {
  /** The last one takes what the others do not. `GET /readyz` is answered by Envoy itself. */
  readonly routes: readonly Part[]
  /** What a route to Envoy itself needs besides. */
  readonly ownRoute?: Part
  /** Before the router. */
  readonly filters?: readonly Part[]
  readonly clusters: readonly Part[]
  /** Where it tells what it knows of its clusters. */
  readonly adminPort?: number
}

/** The configuration of an Envoy that listens where the samples do. */
export function envoyConfig({
  routes,
  ownRoute,
  filters = [],
  clusters,
  adminPort,
}: EnvoyParts): string {
  const ready = { match: { path: '/readyz' }, direct_response: { status: 200 }, ...ownRoute }
  const manager = {
    '@type': typeOf('filters.network.http_connection_manager.v3.HttpConnectionManager'),
    stat_prefix: 'public',
    route_config: {
      virtual_hosts: [{ name: 'all', domains: ['*'], routes: [ready, ...routes] }],
    },
    http_filters: [
      ...filters,
      { name: 'router', typed_config: { '@type': typeOf('filters.http.router.v3.Router') } },
    ],
  }
  const listener = {
    name: 'public',
    address: address(8088),
    filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
  }
  // The port of the samples is replaced, with the space behind it.
  return stringify({
    ...(adminPort !== undefined && { admin: { address: address(adminPort) } }),
    static_resources: { listeners: [listener], clusters },
  }).replace('port_value: 8088', 'port_value: 8088 ')
}

/** Whether an Envoy takes every member of a cluster for healthy. */
export async function areHealthy(adminPort: number, cluster: string): Promise<boolean> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/clusters`)).text()
  const flags = text
    .split('\n')
    .filter((line) => line.startsWith(`${cluster}::`) && line.includes('::health_flags::'))
  return flags.length > 0 && flags.every((line) => line.endsWith('::healthy'))
}

interface Member {
  readonly port: number
  /** Where its health is checked, if not there. */
  readonly healthPort?: number
}

/** A cluster that is asked over HTTP/2, and whose members are left out when they are not healthy. */
export function http2Cluster(name: string, members: readonly Member[], healthCheck: Part): Part {
  return {
    ...plainCluster(name, members),
    common_lb_config: { update_merge_window: '0s', healthy_panic_threshold: { value: 0 } },
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': typeOf('upstreams.http.v3.HttpProtocolOptions'),
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
        ...healthCheck,
      },
    ],
  }
}

/** A cluster that is asked over HTTP/1.1. */
export function plainCluster(name: string, members: readonly Member[]): Part {
  return {
    name,
    type: 'STATIC',
    connect_timeout: '5s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: members.map((member) => ({ endpoint: endpointOf(member) })) }],
    },
  }
}

function endpointOf({ port, healthPort }: Member): Part {
  if (healthPort === undefined) return { address: address(port) }
  return { address: address(port), health_check_config: { port_value: healthPort } }
}
