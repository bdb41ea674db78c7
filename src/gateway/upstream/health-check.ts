import type { Pool } from '../../wire/pool.ts'

export interface HealthCheckSettings {
  /** Requested with GET; any status below 400 is a success. */
  readonly path: string
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Consecutive results that change the state. */
  readonly healthyAfter: number
  readonly unhealthyAfter: number
}

/** The most of a response that a check reads. */
const maxBytes = 65_536

/** The active health check of a target. Without settings, a target is always healthy. */
interface HealthCheck {
  readonly isHealthy: () => boolean
  readonly close: () => void
}

interface HealthCheckOptions {
  /** The Host header, if not the target's. */
  readonly host?: string | undefined
  /** It was unhealthy, and is not any more. */
  readonly onHealthy?: () => void
}

/**
 * Starts at once. A target is healthy until
 * `unhealthyAfter` checks have failed.
 */
export function createHealthCheck(
  createOwnPool: () => Pool,
  settings: HealthCheckSettings | undefined,
  { host, onHealthy }: HealthCheckOptions = {},
): HealthCheck {
  if (settings === undefined) return { isHealthy: () => true, close() {} }
  const { path, intervalMs, timeoutMs, healthyAfter, unhealthyAfter } = settings
  const pool = createOwnPool()
  // Never on an idle connection: the target may be closing it, which says nothing about its health.
  const request = {
    method: 'GET',
    path,
    host,
    headers: [],
    upload: undefined,
    upgrade: undefined,
    closes: true,
  }
  let closed = false
  let giveUp = () => {}
  let healthy = true
  let contrary = 0
  let timer: NodeJS.Timeout | undefined

  function runCheck(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    let status = 0
    let bytes = 0
    const limit = setTimeout(() => giveUp(), timeoutMs)
    const call = pool.send(request, {
      sent() {},
      complete: (head) => settle(head.status < 400),
      head(head) {
        status = head.status
      },
      data(chunk) {
        bytes += chunk.length
        if (bytes > maxBytes) {
          pool.abort(call)
          settle(status < 400)
        }
        return true
      },
      end: () => settle(status < 400),
      upgraded: () => settle(false),
      failed: () => settle(false),
    })
    giveUp = () => {
      pool.abort(call)
      settle(false)
    }
    function settle(isPassed: boolean): void {
      clearTimeout(limit)
      resolve(isPassed)
    }
    return promise
  }
  async function check(): Promise<void> {
    const isPassed = await runCheck()
    if (closed) return
    contrary = isPassed === healthy ? 0 : contrary + 1
    if (contrary >= (healthy ? unhealthyAfter : healthyAfter)) {
      healthy = isPassed
      contrary = 0
      if (healthy) onHealthy?.()
    }
    // Jitter, so that replicas do not check at the same time.
    timer = setTimeout(check, intervalMs * (0.8 + Math.random() * 0.4)).unref()
  }

  void check()
  return {
    isHealthy: () => healthy,
    close() {
      closed = true
      clearTimeout(timer)
      giveUp()
      pool.destroy()
    },
  }
}
