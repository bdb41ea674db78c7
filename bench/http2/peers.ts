import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/support/redis-server.ts'
import { fetchedProxy } from '../../test/support/services/find-proxy.ts'
import { type Server, startServer } from '../run/background.ts'
import { fileOfPeers } from '../run/places.ts'
import type { Stores } from '../run/stores.ts'
import { fill } from '../run/template.ts'
import { findTool } from '../run/tools.ts'
import { startPostern } from './postern.ts'

/** Something that takes HTTP/2 without TLS and forwards it over HTTP/1.1. */
export interface Http2Peer {
  readonly name: string
  /** Why it cannot be had here, if it cannot. */
  readonly absent: string | undefined
  readonly start: (places: Places) => Promise<Server>
}

export interface Places {
  readonly directory: string
  readonly upstreamPort: number
}

/** Changes to the configurations of others. */
export interface PeerChanges {
  readonly nginx?: (text: string) => string
  readonly envoy?: (text: string) => string
}

/** The floor that Postern is measured by comes first. */
export function createPeers(
  main: string,
  stores: () => Promise<Stores>,
  changes: PeerChanges = {},
): readonly Http2Peer[] {
  const { nginx: changeNginx = unchanged, envoy: changeEnvoy = unchanged } = changes
  const nginx = findTool('nginx')
  const envoy = fetchedProxy('envoy')
  return [
    {
      name: 'bare node:http2',
      absent: undefined,
      start: async ({ directory, upstreamPort }) => {
        const port = await freePort()
        const env = { PORT: String(port), UPSTREAM: `http://127.0.0.1:${upstreamPort}` }
        const args = [fileOfPeers('bare-http2.mjs')]
        return startServer({
          program: process.execPath,
          args,
          env,
          port,
          output: outputIn(directory),
        })
      },
    },
    {
      name: 'Postern, 10,000 rules',
      absent: undefined,
      start: (places) =>
        startPostern({ main, stores, ...places }, (text) =>
          text.replace('application: {', 'application: { h2c: true,'),
        ),
    },
    {
      name: 'nginx',
      absent: nginx === undefined ? 'nginx is not installed' : undefined,
      start: async ({ directory, upstreamPort }) => {
        const port = await freePort()
        const user = userInfo().uid === 0 ? 'user root;' : ''
        const template = await readFile(fileOfPeers('nginx.conf'), 'utf8')
        const values = { user, directory, port, upstreamPort, certificate: '', key: '', tls: false }
        const text = fill(template, values).replace('backlog=4096;', 'http2 backlog=4096;')
        const file = join(directory, 'nginx.conf')
        await writeFile(file, changeNginx(text))
        const args = ['-p', directory, '-e', 'stderr', '-c', file, '-g', 'daemon off;']
        return startServer({ program: nginx ?? '', args, port, output: outputIn(directory) })
      },
    },
    {
      name: 'Envoy',
      absent:
        envoy === undefined
          ? 'Envoy is not here; npm run bench -- --install fetches it'
          : undefined,
      start: async ({ directory, upstreamPort }) => {
        const port = await freePort()
        const template = await readFile(fileOfPeers('envoy.yaml'), 'utf8')
        const values = { port, upstreamPort, certificate: '', key: '', tls: false }
        const file = join(directory, 'envoy.yaml')
        const text = fill(template, values).replace('codec_type: HTTP1', 'codec_type: HTTP2')
        await writeFile(file, changeEnvoy(text))
        const args = [
          '--config-path',
          file,
          '--concurrency',
          '1',
          '--log-level',
          'error',
          '--disable-hot-restart',
        ]
        return startServer({ program: envoy ?? '', args, port, output: outputIn(directory) })
      },
    },
  ]
}

const unchanged = (text: string) => text

function outputIn(directory: string): string {
  return join(directory, 'output')
}

/** A directory of its own for each peer. */
export async function directoryFor(run: string, { name }: Http2Peer): Promise<string> {
  const directory = join(run, name.replaceAll(/\W+/g, '-'))
  await mkdir(directory, { recursive: true })
  return directory
}
