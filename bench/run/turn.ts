import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../test/support/redis-server.ts'
import { startServer } from './background.ts'
import { measure, type Sample, type WarmUp } from './measure.ts'
import type { Peer } from './peer.ts'
import { checkout } from './places.ts'
import { prove } from './proof.ts'
import type { Upstream } from './upstream.ts'
import type { Workload } from './workloads.ts'

/** What all turns of a run have in common. */
export interface Surroundings {
  readonly upstream: Upstream
  /** The PEM files for TLS from clients. */
  readonly certificate: string
  readonly key: string
  readonly directory: string
  readonly seconds: number
  readonly warmUp: WarmUp
  /** After the start of a peer: what compiles at run time takes its time. */
  readonly firstWarmUp: WarmUp
}

export interface Turn {
  readonly peer: Peer
  /** All with TLS, or all without. */
  readonly workloads: readonly Workload[]
  readonly tls: boolean
  /** Told of every figure as it is there, or why there is none. */
  readonly told: (workload: Workload, outcome: Sample | Error) => void
}

/**
 * Starts one peer alone, proves that it does its job, measures it with each workload and stops it.
 * A workload that fails does not keep the others from being measured.
 */
export async function takeTurn(turn: Turn, surroundings: Surroundings): Promise<void> {
  const { peer, workloads, tls } = turn
  const left = new Set(workloads)
  const told = (workload: Workload, outcome: Sample | Error) => {
    if (left.delete(workload)) turn.told(workload, outcome)
  }
  const { upstream, certificate, key, seconds, firstWarmUp } = surroundings
  let warmUp = firstWarmUp
  const port = await freePort()
  const directory = join(surroundings.directory, `${peer.name}-${port}`)
  await mkdir(directory)
  try {
    const setting = { port, upstreamPort: upstream.port, directory, tls, certificate, key }
    const launch = await peer.prepare(setting)
    const server = await startServer({ ...launch, port, output: join(directory, 'output') })
    try {
      await peer.ready?.(port, tls)
      await prove(peer, port, tls)
      const subject = { pid: server.pid, port, checks: peer.kind !== 'plain' }
      for (const workload of workloads) {
        const options = { workload, upstream, seconds, warmUp, directory }
        told(workload, await measure(subject, options).catch(asError))
        warmUp = surroundings.warmUp
      }
    } finally {
      await server.stop()
    }
  } catch (error) {
    for (const workload of workloads) told(workload, asError(error))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function asError(error: unknown): Error {
  const text = error instanceof Error ? error.message : String(error)
  // It becomes one line of a document that others read: where this checkout is says them nothing.
  return new Error(text.replaceAll(checkout, '.').replace(/\s+/g, ' ').trim().slice(-300))
}
