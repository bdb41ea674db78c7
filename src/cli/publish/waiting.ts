import { UsageError } from '../command.ts'

interface Waiting {
  /** `undefined`: the replicas are not checked. */
  readonly waitSeconds: number | undefined
  readonly allowLost: boolean
}

/** Long enough for a replica that missed the message and polls. */
const defaultSeconds = 15

/** How `push` and `rollback` wait for the replicas. */
export function waitingOf(options: {
  readonly wait: number | undefined
  readonly 'no-wait': boolean
  readonly 'allow-lost': boolean
}): Waiting {
  const { wait, 'no-wait': noWait, 'allow-lost': allowLost } = options
  if (!noWait) return { waitSeconds: wait ?? defaultSeconds, allowLost }
  if (wait === undefined) return { waitSeconds: undefined, allowLost }
  throw new UsageError('--wait and --no-wait cannot be combined')
}
