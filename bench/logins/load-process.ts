import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Order, Outcome } from './load.ts'

/** A process that makes requests when told to. */
export interface LoadProcess {
  ask(order: Order): Promise<Outcome>
  stop(): void
}

export function startLoadProcess(): LoadProcess {
  const child = start('load.ts')
  return {
    async ask(order) {
      child.send(order)
      const [outcome] = (await once(child, 'message')) as [Outcome]
      return outcome
    },
    stop: () => void child.kill(),
  }
}

/** A service that answers at once, in a process of its own. */
export interface UpstreamProcess {
  readonly port: number
  stop(): void
}

export async function startUpstreamProcess(): Promise<UpstreamProcess> {
  const child = start('upstream.ts')
  const [port] = (await once(child, 'message')) as [number]
  return { port, stop: () => void child.kill() }
}

function start(file: string): ChildProcess {
  return fork(join(import.meta.dirname, file))
}
