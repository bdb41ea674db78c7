import type { FeedLog } from '../../../background/feed-log.ts'
import { Fault } from '../../../kernel/errors.ts'
import type { Deadline } from './deadline.ts'
import { DirectoryError } from './directory-error.ts'
import { createDirectoryServer, type DirectoryServer } from './directory-server.ts'
import type { DirectorySettings } from './settings.ts'

/** So long the other servers are asked first. */
const failedPauseMs = 30_000

interface Tracked {
  readonly server: DirectoryServer
  /** `null` before it was asked. */
  reachable: boolean | null
  failedAt: number
  lastError: string | undefined
}

/**
 * Servers in the configured order, those that failed a moment ago last. One login is served by one
 * server from beginning to end, because replicas lag behind each other.
 */
export function createDirectoryServers(settings: DirectorySettings, log: FeedLog) {
  const all = settings.urls.map((url): Tracked => {
    const server = createDirectoryServer(url, settings)
    return { server, reachable: null, failedAt: -Infinity, lastError: undefined }
  })

  function inOrder(): readonly Tracked[] {
    const hasFailed = ({ failedAt }: Tracked) => performance.now() - failedAt < failedPauseMs
    return all.toSorted((a, b) => Number(hasFailed(a)) - Number(hasFailed(b)))
  }

  function succeeded(tracked: Tracked): void {
    const { url } = tracked.server
    if (tracked.reachable === false) log.info({ server: url }, 'directory server reachable again')
    Object.assign(tracked, { reachable: true, failedAt: -Infinity })
  }

  function failed(tracked: Tracked, reason: string): void {
    const { url } = tracked.server
    if (tracked.reachable !== false || tracked.lastError !== reason) {
      log.warn({ server: url, reason }, 'directory server failed')
    }
    Object.assign(tracked, { reachable: false, failedAt: performance.now(), lastError: reason })
  }

  /** Runs the work on the first server that can do it. Each gets a share of the time. */
  async function on<T>(
    deadline: Deadline,
    work: (server: DirectoryServer, deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const reasons: string[] = []
    const order = inOrder()
    for (const [index, tracked] of order.entries()) {
      try {
        const result = await work(tracked.server, deadline.part(1 / (order.length - index)))
        succeeded(tracked)
        return result
      } catch (error) {
        if (!(error instanceof DirectoryError)) throw error
        failed(tracked, error.message)
        reasons.push(error.message)
      }
    }
    throw new Fault('directory', { reason: reasons.join('; ') })
  }

  return {
    on,
    /** What operators see of each server. */
    states: () =>
      all.map(({ server, reachable, lastError }) => {
        return { url: server.url, reachable, lastError: reachable ? undefined : lastError }
      }),
    close() {
      for (const { server } of all) server.close()
    },
  }
}
