import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/support/redis-server.ts'
import { fetchedProxy } from '../../test/support/services/find-proxy.ts'
import { type Server, startServer } from '../run/background.ts'
import { fileOfPeers } from '../run/places.ts'
import { createPosternPeers } from '../run/postern-peers.ts'
import type { Stores } from '../run/stores.ts'
import { fill } from '../run/template.ts'
import { findTool } from '../run/tools.ts'

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

/** The floor that Postern is measured by comes first. */
export function createPeers(main: string, stores: () => Promise<Stores>): readonly Http2Peer[] {
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
      start: async (places) => {
        const port = await freePort()
        const [postern] = createPosternPeers({ main, version: '', hasWorkers: true, stores })
        if (postern === undefined) throw new Error('no Postern to start')
        const setting = { ...places, port, tls: false, certificate: '', key: '' }
        const launch = await postern.prepare(setting)
        const file = join(places.directory, 'postern.yaml')
        const text = await readFile(file, 'utf8')
        await writeFile(file, text.replace('application: {', 'application: { h2c: true,'))
        return startServer({ ...launch, port, output: outputIn(places.directory) })
      },
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
        await writeFile(file, text)
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
        await writeFile(
          file,
          fill(template, values).replace('codec_type: HTTP1', 'codec_type: HTTP2'),
        )
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

function outputIn(directory: string): string {
  return join(directory, 'output')
}

/** A directory of its own for each peer. */
export async function directoryFor(run: string, { name }: Http2Peer): Promise<string> {
  const directory = join(run, name.replaceAll(/\W+/g, '-'))
  await mkdir(directory, { recursive: true })
  return directory
}
