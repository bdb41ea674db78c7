import type { Redis } from 'ioredis'

/** What Redis did between two moments. */
export interface RedisFigures {
  /** Of one core. */
  readonly cpuPercent: number
  readonly commandsPerSecond: number
  readonly megabitsOut: number
  readonly memoryMb: number
  readonly connections: number
}

/** Starts to measure; the function that comes back ends it. */
export async function measureRedis(client: Redis): Promise<() => Promise<RedisFigures>> {
  const before = await read(client)
  return async () => {
    const after = await read(client)
    const seconds = (after.at - before.at) / 1000
    const grown = (name: string) => (after.of(name) - before.of(name)) / seconds
    return {
      cpuPercent: Math.round(100 * (grown('used_cpu_user') + grown('used_cpu_sys'))),
      commandsPerSecond: Math.round(grown('total_commands_processed')),
      megabitsOut: Math.round((grown('total_net_output_bytes') * 8) / 1e5) / 10,
      memoryMb: Math.round(after.of('used_memory') / 1e6),
      connections: after.of('connected_clients'),
    }
  }
}

async function read(client: Redis) {
  const text = await client.info()
  return {
    at: performance.now(),
    of: (name: string) => Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(text)?.[1] ?? 0),
  }
}
