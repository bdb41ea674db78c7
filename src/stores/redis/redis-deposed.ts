import type { Socket } from 'node:net'
import { withTimeout } from '../../background/with-timeout.ts'
import { isSameHost, type SentinelAnswer, type Sentinels } from './redis-sentinels.ts'

/** How often one sentinel is asked, at most. */
const everyMs = 1000
/** How often all of them are while one doubts the primary: others may know its successor earlier. */
const doubtfulMs = 500

/**
 * Closes a connection to a server that is no longer the primary, in whichever state it is. A primary
 * that hangs accepts connections and never answers. One that the sentinels declared dead keeps serving
 * until they demote it, some ten seconds after the failover; what is written to it meanwhile is lost.
 */
export function leaveDeposed(stream: Socket, opened: SentinelAnswer, sentinels: Sentinels): void {
  const links = sentinels.link()
  let isDoubtful = opened.isDoubtful
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    const now = await newest().catch(() => undefined)
    if (stream.destroyed) return
    if (now !== undefined && isDeposed(opened, now)) return leave(stream)
    // One link is enough from now on.
    if (isDoubtful && now?.isDoubtful === false) links.close()
    isDoubtful = now?.isDoubtful ?? true
    schedule()
  }

  async function newest(): Promise<SentinelAnswer> {
    if (isDoubtful) return links.askAll()
    // A sentinel may hang together with the primary.
    const one = await withTimeout(doubtfulMs, links.askOne()).catch(() => undefined)
    return one === undefined || one.isDoubtful ? links.askAll() : one
  }

  function schedule(): void {
    const most = isDoubtful ? doubtfulMs : everyMs
    timer = setTimeout(() => void look(), most * (0.5 + Math.random() / 2))
  }

  stream.once('close', () => {
    clearTimeout(timer)
    links.close()
  })
  schedule()
}

/** At once: a server that hangs does not close its side. */
export function leave(stream: Socket | undefined): void {
  stream?.destroy(new Error('Sentinel has promoted another server'))
}

/** By a newer answer only: a sentinel may not have heard yet of the server that we have found. */
function isDeposed(before: SentinelAnswer, now: SentinelAnswer): boolean {
  return now.epoch > before.epoch && !isSameHost(before.primary, now.primary)
}
