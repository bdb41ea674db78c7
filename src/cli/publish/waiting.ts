import { UsageError } from '../command.ts'

interface Waiting {
  /** `undefined`: the replicas are not checked. */
  readonly waitSeconds: number | undefined
  readonly allowLost: boolean
  /** How many replicas the user expects, if they say so. */
  readonly replicas: number | undefined
}

/** Long enough for a replica that missed the message and polls. */
const defaultSeconds = 15

/** How `push` and `rollback` wait for the replicas. */
export function waitingOf(options: {
  readonly wait: number | undefined
  readonly 'no-wait': boolean
  readonly 'allow-lost': boolean
  readonly replicas: number | undefined
}): Waiting {
  const { wait, 'no-wait': noWait, 'allow-lost': allowLost, replicas } = options
  if (!noWait) return { waitSeconds: wait ?? defaultSeconds, allowLost, replicas }
  for (const name of ['wait', 'replicas'] as const) {
    if (options[name] !== undefined)
      throw new UsageError(`--${name} and --no-wait cannot be combined`)
  }
  return { waitSeconds: undefined, allowLost, replicas }
}
