import { mkdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../test/support/redis-server.ts'
import { type Server, startServer } from './background.ts'
import type { Peer } from './peer.ts'
import { checkout } from './places.ts'
import { prove } from './proof.ts'
import type { Upstream } from './upstream.ts'

/** What all peers of a run have in common. */
export interface Surroundings {
  readonly upstream: Upstream
  /** The PEM files for TLS from clients. */
  readonly certificate: string
  readonly key: string
  readonly directory: string
}

/** One that listens and was proven to do its job. */
export interface RunningPeer extends Server {
  readonly peer: Peer
  readonly tls: boolean
  /** For lines about it. */
  readonly label: string
  readonly directory: string
  /** Throws away what it has logged: a run would fill the disk. */
  emptyLogs(): Promise<void>
}

/** Starts one and proves it. Throws one line on why that is not possible; then nothing is left. */
export async function startPeer(
  peer: Peer,
  tls: boolean,
  { upstream, certificate, key, directory: ofRun }: Surroundings,
): Promise<RunningPeer> {
  const label = tls ? `${peer.name} with TLS` : peer.name
  const port = await freePort()
  const directory = join(ofRun, `${peer.name}-${port}`)
  await mkdir(directory)
  const output = join(directory, 'output')
  let server: Server | undefined
  try {
    const setting = { port, upstreamPort: upstream.port, directory, tls, certificate, key }
    server = await startServer({ ...(await peer.prepare(setting)), port, output })
    await peer.ready?.(port, tls)
    await prove(peer, port, tls)
  } catch (error) {
    await server?.stop()
    throw asError(error)
  }
  async function emptyLogs(): Promise<void> {
    const logs = [output, join(directory, 'access.log')]
    await Promise.all(logs.map((file) => truncate(file).catch(() => {})))
  }
  return { ...server, peer, tls, label, directory, emptyLogs }
}

/** As one line of a document that others read: where this checkout is says them nothing. */
export function asError(error: unknown): Error {
  const text = error instanceof Error ? error.message : String(error)
  return new Error(text.replaceAll(checkout, '.').replace(/\s+/g, ' ').trim().slice(-300))
}
