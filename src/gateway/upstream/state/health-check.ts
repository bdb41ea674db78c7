import type { Pool } from '../../../wire/pool.ts'

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

/** What the checks have found. The check of a reloaded configuration continues with it. */
export interface HealthRecord {
  healthy: boolean
  /** Consecutive results that contradict it. */
  contrary: number
}

interface HealthCheckOptions {
  readonly record?: HealthRecord
  /** The Host header, if not the target's. */
  readonly host?: string | undefined
  /** It was unhealthy, and is not any more. */
  readonly onHealthy?: () => void
}

/**
 * The active health check of a target. Starts at once. A new target is healthy until `unhealthyAfter`
 * checks have failed; without settings, it always is.
 */
export function createHealthCheck(
  createOwnPool: () => Pool,
  settings: HealthCheckSettings | undefined,
  { record = newHealthRecord(), host, onHealthy }: HealthCheckOptions = {},
) {
  if (settings === undefined) {
    Object.assign(record, newHealthRecord())
    return { isHealthy: () => true, close() {} }
  }
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
    record.contrary = isPassed === record.healthy ? 0 : record.contrary + 1
    if (record.contrary >= (record.healthy ? unhealthyAfter : healthyAfter)) {
      record.healthy = isPassed
      record.contrary = 0
      if (isPassed) onHealthy?.()
    }
    // Jitter, so that replicas do not check at the same time.
    timer = setTimeout(check, intervalMs * (0.8 + Math.random() * 0.4)).unref()
  }

  void check()
  return {
    isHealthy: () => record.healthy,
    close() {
      closed = true
      clearTimeout(timer)
      giveUp()
      pool.destroy()
    },
  }
}

export function newHealthRecord(): HealthRecord {
  return { healthy: true, contrary: 0 }
}
