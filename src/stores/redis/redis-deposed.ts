import type { Cluster, Redis } from 'ioredis'
import {
  isSameHost,
  type SentinelAnswer,
  type SentinelLink,
  type Sentinels,
} from './redis-sentinels.ts'

/** How often a sentinel is asked, at most. */
const everyMs = 1000

/**
 * Closes a connection to a server that is no longer the primary. A primary that the sentinels
 * declared dead keeps serving until they demote it, some ten seconds after the failover; what is
 * written to it meanwhile is lost.
 */
export function leaveDeposed(
  connection: Redis,
  { link }: Sentinels,
  opened: () => SentinelAnswer | undefined,
): void {
  let sentinel: SentinelLink | undefined
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    const before = opened()
    try {
      sentinel ??= link()
      const now = await sentinel.ask()
      if (before === opened() && isDeposed(before, now)) reconnect(connection)
    } catch {
      forget()
    }
    schedule()
  }

  function schedule(): void {
    clearTimeout(timer)
    if (connection.status !== 'ready') return
    timer = setTimeout(() => void look(), everyMs * (0.5 + Math.random() / 2))
  }

  function forget(): void {
    sentinel?.close()
    sentinel = undefined
  }

  connection.on('ready', schedule)
  connection.on('close', () => {
    clearTimeout(timer)
    forget()
  })
}

/** Only while it is open: after a disconnect during the search for a server, the driver gives up. */
export function reconnect(connection: Redis | Cluster): void {
  if (connection.status === 'ready') connection.disconnect(true)
}

/** By a newer answer only: a sentinel may not have heard yet of the server that we have found. */
function isDeposed(before: SentinelAnswer | undefined, now: SentinelAnswer): boolean {
  if (before === undefined || now.epoch <= before.epoch) return false
  return !isSameHost(before.primary, now.primary)
}
