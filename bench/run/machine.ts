import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'

/** Where the figures come from. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGib: number
  readonly kernel: string
  /** How much it had to do before the run began. */
  readonly load: number
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: `Linux ${release()}`,
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  }
}

/** The commit of a checkout, with a mark when something in it has changed. */
export function describeCheckout(checkout: string): string {
  const git = spawnSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
    cwd: checkout,
    encoding: 'utf8',
  })
  return git.status === 0 ? git.stdout.trim() : 'no commit'
}
