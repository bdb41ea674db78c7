import { decimal } from '../command.ts'

/** The options by which `push` and `rollback` wait for the replicas. */
export const waitOptions = {
  wait: { type: 'string' },
  'no-wait': { type: 'boolean' },
  'allow-lost': { type: 'boolean' },
} as const

/** How these options are used. */
export const waitHelp = `  --wait SECONDS   how long to wait for the replicas (15; 0: look once)
  --no-wait        publish and do not check the replicas: for a first policy, before any gateway runs
  --allow-lost     succeed although replicas are lost or none has reported: for a deployment that is
                   about to replace them
`

interface Waiting {
  /** `undefined`: the replicas are not asked. */
  readonly waitSeconds: number | undefined
  readonly allowLost: boolean
}

/** What these options say, or what is wrong with them. */
export function waitingOf(values: {
  readonly wait?: string
  readonly 'no-wait'?: boolean
  readonly 'allow-lost'?: boolean
}): Waiting | string {
  const { wait, 'no-wait': noWait = false, 'allow-lost': allowLost = false } = values
  if (noWait) {
    return wait === undefined
      ? { waitSeconds: undefined, allowLost }
      : '--wait and --no-wait cannot be combined'
  }
  // Long enough for a replica that has lost the message and polls.
  const seconds = decimal(wait ?? '15')
  if (seconds === undefined || seconds > 3600) {
    return '--wait is a number of seconds from 0 to 3600'
  }
  return { waitSeconds: seconds, allowLost }
}
