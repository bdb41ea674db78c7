import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/support/redis-server.ts'
import { startServer } from './background.ts'
import { fileOfPeers } from './places.ts'
import { fill } from './template.ts'
import { findTool } from './tools.ts'

/** The one service behind every peer. */
export interface Upstream {
  readonly port: number
  readonly kind: 'nginx' | 'node'
  /** How many requests have reached it since its start. */
  requests(): Promise<number>
  stop(): Promise<void>
}

/** nginx where there is one, else node. Its files go below the directory of the run. */
export async function startUpstream(ofRun: string): Promise<Upstream> {
  const directory = join(ofRun, 'upstream')
  await mkdir(directory)
  const port = await freePort()
  const statusPort = await freePort()
  const nginx = findTool('nginx')
  await writeFile(join(directory, 'large'), 'x'.repeat(100 * 1024))
  const server = await startServer({
    ...(nginx === undefined
      ? {
          program: process.execPath,
          args: [fileOfPeers('upstream.mjs')],
          env: { PORT: String(port), STATUS_PORT: String(statusPort) },
        }
      : await nginxCommand(nginx, { directory, port, statusPort })),
    port,
    output: join(directory, 'output'),
  })
  return {
    port,
    kind: nginx === undefined ? 'node' : 'nginx',
    async requests() {
      const text = await (await fetch(`http://127.0.0.1:${statusPort}/`)).text()
      const [, , total = Number.NaN] = (/^ (\d+) (\d+) (\d+)/m.exec(text) ?? [])
        .slice(1)
        .map(Number)
      return total
    },
    stop: server.stop,
  }
}

interface NginxPlaces {
  readonly directory: string
  readonly port: number
  readonly statusPort: number
}

async function nginxCommand(program: string, places: NginxPlaces) {
  const template = await readFile(fileOfPeers('upstream.conf'), 'utf8')
  const file = join(places.directory, 'nginx.conf')
  const user = userInfo().uid === 0 ? 'user root;' : ''
  await writeFile(file, fill(template, { ...places, user }))
  const args = ['-p', places.directory, '-e', 'stderr', '-c', file, '-g', 'daemon off;']
  return { program, args }
}
