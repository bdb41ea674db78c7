import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { tokenOf } from '../../test/support/tokens.ts'
import { runLoad } from '../run/load.ts'
import { alternating, compareWindows, type Window } from './figures.ts'
import { permitted } from './policy.ts'
import type { World } from './world.ts'

/** CPU time of all threads of a process so far. */
export function cpuSecondsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = threads.map((thread) => {
    // A thread may end in between.
    try {
      const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')
      return Number(text.split(' ', 1)[0])
    } catch {
      return 0
    }
  })
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e9
}

/** A reader with the live pages open, as far as the console is concerned. */
interface Reader {
  readonly events: () => number
  close(): void
}

const streams = ['live/traffic', 'live/decisions'] as const

async function openStreams({ address, cookie }: World): Promise<Reader> {
  const controller = new AbortController()
  let events = 0
  for (const path of streams) {
    const { status, body } = await fetch(`${address}api/v1/${path}`, {
      headers: { cookie: `${cookie.name}=${cookie.value}` },
      signal: controller.signal,
    })
    if (status !== 200 || body === null) throw new Error(`${path}: ${status}`)
    const read = async () => {
      for await (const chunk of body) {
        events += Buffer.from(chunk).toString().split('\n\n').length - 1
      }
    }
    // Rejects when it is closed.
    void read().catch(() => {})
  }
  return { events: () => events, close: () => controller.abort() }
}

/** Gateways learn of a watching console with their reports, and forget it a while after it has gone. */
const settleMs = 6000

interface CpuOptions {
  readonly pairs: number
  readonly seconds: number
  readonly tell: (text: string) => void
}

/** CPU per proxied request of the gateway, in windows with and without open live pages in turn. */
export async function measureCpu(world: World, { pairs, seconds, tell }: CpuOptions) {
  const { gateway, directory } = world
  const workload = {
    ...({ name: 'console', title: 'GET', method: 'GET', path: permitted.path } as const),
    ...{ connections: 64, passes: 1, tokens: [tokenOf(permitted.role, { exp: 4_102_444_800 })] },
  }
  const load = () => runLoad({ workload, port: gateway.publicPort, seconds, directory })
  const warm = await load()
  if (warm.failed + warm.refused > 0) throw new Error(`the load fails: ${JSON.stringify(warm)}`)
  // The optimizing compiler goes on for a while, which would count for the first windows alone.
  for (let turn = 0; turn < 4; turn++) await load()

  const windows: Window[] = []
  let events = 0
  let failed = 0
  let reader: Reader | undefined
  for (const isWatched of alternating(pairs)) {
    if (isWatched !== (reader !== undefined)) {
      reader?.close()
      reader = isWatched ? await openStreams(world) : undefined
      await pause(settleMs)
    }
    const before = { cpu: cpuSecondsOf(gateway.pid), events: reader?.events() ?? 0 }
    const result = await load()
    const cpuMicros = ((cpuSecondsOf(gateway.pid) - before.cpu) * 1e6) / result.requests
    events += (reader?.events() ?? 0) - before.events
    failed += result.failed + result.refused
    windows.push({ isWatched, cpuMicros })
    tell(`cpu: ${isWatched ? 'watched' : 'without'} ${cpuMicros.toFixed(2)} µs`)
  }
  reader?.close()
  return { ...compareWindows(windows), events, failed, seconds }
}
