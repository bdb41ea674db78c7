import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { tokenOf } from '../../test/support/tokens.ts'
import { runLoad, startLoad } from '../run/load.ts'
import { comparePhases, median, type Phase, rounded } from './figures.ts'
import { liveShareOf, profileOf } from './live-share.ts'
import { permitted } from './policy.ts'
import { createReader } from './reader.ts'
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

interface CpuOptions {
  /** Phases with open live pages, each between two without. */
  readonly phases: number
  /** Of each phase. */
  readonly seconds: number
  readonly tell: (text: string) => void
}

const windowMs = 500

/**
 * CPU per proxied request of the gateway, in one run of load: phases with and without open live pages in turn,
 * each of many short windows. Then the share of a CPU profile that live pages have.
 */
export async function measureCpu(world: World, { phases, seconds, tell }: CpuOptions) {
  const { gateway, upstream, directory } = world
  const workload = {
    ...({ name: 'console', title: 'GET', method: 'GET', path: permitted.path } as const),
    ...{ connections: 64, passes: 1, tokens: [tokenOf(permitted.role, { exp: 4_102_444_800 })] },
  }
  const about = { workload, port: gateway.publicPort, directory }
  gateway.dropLog()
  // The optimizing compiler goes on for a while, which would count for the first windows alone.
  const warm = await runLoad({ ...about, seconds: 15 })
  if (warm.failed + warm.refused > 0) throw new Error(`the load fails: ${JSON.stringify(warm)}`)

  const load = await startLoad({ ...about, seconds: 24 * 3600 })
  const reader = createReader(world)
  const sample = async () => {
    const requests = await upstream.requests()
    return { cpu: cpuSecondsOf(gateway.pid), requests }
  }
  async function measurePhase(isWatched: boolean): Promise<Phase> {
    const cpuMicros: number[] = []
    let before = await sample()
    for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
      await pause(windowMs)
      const after = await sample()
      cpuMicros.push(((after.cpu - before.cpu) * 1e6) / (after.requests - before.requests))
      before = after
    }
    const name = isWatched ? 'watched' : 'without'
    tell(`cpu: ${name} ${median(cpuMicros).toFixed(2)} µs (${cpuMicros.length} windows)`)
    return { isWatched, cpuMicros }
  }
  async function profiled() {
    const { share, collected, live, samples } = liveShareOf(
      await profileOf(gateway, profileSeconds),
    )
    tell(`cpu: ${live} of ${samples} samples of a profile are for live pages`)
    return { share: rounded(share, 5), collected: rounded(collected, 5), live, samples }
  }
  try {
    const measured = [await measurePhase(false)]
    for (let turn = 0; turn < phases; turn++) {
      await reader.open()
      measured.push(await measurePhase(true))
      await reader.close()
      measured.push(await measurePhase(false))
    }
    const without = await profiled()
    await reader.open()
    const watched = await profiled()
    return {
      ...comparePhases(measured),
      profile: { without, watched },
      ...{ events: reader.events(), seconds },
    }
  } finally {
    reader.end()
    load.end()
  }
}

const profileSeconds = 20
