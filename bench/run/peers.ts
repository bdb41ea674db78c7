import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { buildPostern } from './build.ts'
import { buildGoPeer, goPeers } from './go-peers.ts'
import { haproxyPeers } from './haproxy-peers.ts'
import { describeCheckout } from './machine.ts'
import { findLua, findNjs, nginxPeers } from './nginx-peers.ts'
import { nodePeers } from './node-peers.ts'
import type { Peer } from './peer.ts'
import { createPosternPeers } from './postern-peers.ts'
import { fetchProxies, proxyPeers } from './proxy-peers.ts'
import type { RunStores } from './stores.ts'
import { installPackage, installTool } from './tools.ts'

const order: readonly Peer['kind'][] = ['plain', 'checked', 'ours']

/** Everybody who can be measured: those that check nothing, those that check, Postern. */
export function createPeers(checkout: string, directory: string, stores: RunStores): Peer[] {
  const main = buildPostern(checkout, join(directory, 'postern'))
  const schema = execFileSync(process.execPath, [main, 'config', 'schema'], { encoding: 'utf8' })
  const { workers } = JSON.parse(schema).properties.application.properties
  const version = `Postern ${describeCheckout(checkout)}, node ${process.version}`
  return [
    ...nginxPeers,
    ...haproxyPeers,
    ...proxyPeers,
    ...nodePeers,
    ...goPeers,
    ...createPosternPeers({
      main,
      version,
      hasWorkers: workers !== undefined,
      stores: stores.open,
    }),
  ].sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind))
}

/** Has the system's package manager bring what the peers and the load need and is not there. */
export function installTools(): void {
  for (const name of ['wrk', 'nginx', 'haproxy'] as const) installTool(name)
  fetchProxies()
  buildGoPeer()
  if (findNjs() === undefined) installPackage('njs', 'libnginx-mod-http-js', 'nginx-mod-http-js')
  if (findLua() === undefined) installLua()
}

/** The module brings LuaJIT and its libraries, but not the one for JSON. */
function installLua(): void {
  installPackage('lua', 'libnginx-mod-http-lua', 'nginx-mod-http-lua')
  installPackage('lua-cjson', 'lua-cjson')
}
