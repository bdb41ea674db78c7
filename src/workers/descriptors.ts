import { readFileSync } from 'node:fs'
import type { Config } from '../config/schema/schema.ts'
import type { Log } from '../log/log.ts'

/** Log, stores, listeners, the files of policies and keys. */
const ofGateway = 128

/** Descriptors that one process needs besides those of its clients. */
function besidesClients({ upstreams }: Config): number {
  const connections = Object.values(upstreams).map(
    ({ targets, connections }) => targets.length * connections,
  )
  return connections.reduce((sum, count) => sum + count, ofGateway)
}

/** The first descriptor number reserved for upstreams and the gateway itself. */
export function firstReserved(config: Config): number | undefined {
  const limit = readDescriptorLimit()
  if (limit === undefined) return undefined
  return limit - Math.min(besidesClients(config), Math.floor(limit / 2))
}

/** Warns at startup when clients will be refused before `limits.connections` is reached. */
export function warnOfDescriptors(config: Config, log: Log): void {
  const { limit, needed } = descriptorNeeds(config)
  if (limit === undefined || limit >= needed) return
  log.warn(
    { limit, needed, connections: config.limits.connections },
    'file descriptor limit too low for limits.connections: raise it (ulimit -n, LimitNOFILE)',
  )
}

/** The limit of this process, and what one process needs to reach `limits.connections`. */
export function descriptorNeeds(config: Config): {
  readonly limit: number | undefined
  readonly needed: number
} {
  const { limits, forwardAuth } = config
  const ports = forwardAuth.enabled ? 2 : 1
  return {
    limit: readDescriptorLimit(),
    needed: ports * limits.connections + besidesClients(config),
  }
}

/** The limit of open files and connections of this process; `undefined` if the system reports none. */
function readDescriptorLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
