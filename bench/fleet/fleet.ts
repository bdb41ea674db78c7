import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { FromFleet, ToFleet } from './messages.ts'

/** Gateways in a few processes. */
export interface Fleet {
  readonly rssMb: number
  /** The times at which all gateways had this policy or revocation, the first time first. */
  reached(kind: 'policy' | 'revoked', name: string): Promise<readonly number[]>
  /** Lets every gateway count for so long. */
  count(seconds: number): Promise<void>
  /** To be called before Redis is lost; resolves when every gateway has noticed it. */
  lost(): Promise<{ current(): Promise<readonly number[]> }>
  stop(): Promise<void>
}

export async function startFleet(options: {
  readonly url: string
  readonly prefix: string
  readonly gateways: number
  readonly processes: number
  readonly onStarted: (count: number) => void
}): Promise<Fleet> {
  const { url, prefix, gateways, processes, onStarted } = options
  const children = Array.from({ length: processes }, () =>
    fork(join(import.meta.dirname, 'process.ts'), { stdio: 'inherit' }),
  )
  const kill = () => {
    for (const child of children) child.kill('SIGKILL')
  }
  process.once('exit', kill)

  const share = Math.ceil(gateways / processes)
  const counts = children.map(() => 0)
  for (const [at, child] of children.entries()) {
    child.on('message', (message: FromFleet) => {
      if (message.kind !== 'progress') return
      counts[at] = message.started
      onStarted(counts.reduce((sum, count) => sum + count, 0))
    })
  }
  const started = children.map(async (child, at) => {
    const from = at * share
    const answer = answered(child, (message) => message.kind === 'started')
    send(child, { kind: 'start', url, prefix, from, count: Math.min(share, gateways - from) })
    return answer
  })
  const rssMb = (await Promise.all(started)).reduce(
    (sum, message) => sum + (message.kind === 'started' ? message.rssMb : 0),
    0,
  )

  async function timesOf(matches: (message: FromFleet) => boolean): Promise<readonly number[]> {
    const messages = await Promise.all(children.map((child) => answered(child, matches)))
    return messages.flatMap((message) => ('at' in message ? message.at : [])).sort((a, b) => a - b)
  }

  return {
    rssMb,
    reached: (kind, name) =>
      timesOf((message) => message.kind === kind && 'name' in message && message.name === name),
    async count(seconds) {
      const counted = timesOf((message) => message.kind === 'counted')
      for (const child of children) send(child, { kind: 'count', seconds })
      await counted
    },
    async lost() {
      const lost = timesOf((message) => message.kind === 'lost')
      const current = timesOf((message) => message.kind === 'current')
      for (const child of children) send(child, { kind: 'watch' })
      await lost
      return { current: () => current }
    },
    async stop() {
      await Promise.all(
        children.map(async (child) => {
          const ended = once(child, 'exit')
          send(child, { kind: 'stop' })
          await ended
        }),
      )
      process.off('exit', kill)
    },
  }
}

function send(child: ChildProcess, message: ToFleet): void {
  child.send(message)
}

function answered(
  child: ChildProcess,
  matches: (message: FromFleet) => boolean,
): Promise<FromFleet> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('a process of the fleet ended'))
    function listen(message: unknown): void {
      if (!matches(message as FromFleet)) return
      child.off('message', listen)
      child.off('exit', ended)
      resolve(message as FromFleet)
    }
    child.on('message', listen)
    child.once('exit', ended)
  })
}
