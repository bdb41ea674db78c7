import type { Dispatcher } from 'undici'

/** Sends one request. */
type Ask = (options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>

export interface HealthCheckSettings {
  /** What is asked for, with GET; any status below 400 is a good answer. */
  readonly path: string
  readonly intervalMs: number
  readonly timeoutMs: number
  /** How many answers in a row change the verdict. */
  readonly healthyAfter: number
  readonly unhealthyAfter: number
}

/** Asks a target whether it is well, again and again. Without settings it is always well. */
export interface HealthCheck {
  readonly isHealthy: () => boolean
  readonly close: () => void
}

/** Begins at once. `host`: a name for the Host header, if not the target's. A target counts as healthy until it has failed often enough. */
export function createHealthCheck(
  ask: Ask,
  settings: HealthCheckSettings | undefined,
  host?: string,
): HealthCheck {
  if (settings === undefined) return { isHealthy: () => true, close() {} }
  const { path, intervalMs, timeoutMs, healthyAfter, unhealthyAfter } = settings
  const request = { method: 'GET', path, ...(host !== undefined && { headers: { host } }) } as const
  const closing = new AbortController()
  let healthy = true
  let against = 0
  let timer: NodeJS.Timeout | undefined

  async function answersWell(): Promise<boolean> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)])
    try {
      const { statusCode, body } = await ask({ ...request, signal })
      await body.dump({ limit: 65_536, signal })
      return statusCode < 400
    } catch {
      return false
    }
  }
  async function check(): Promise<void> {
    const well = await answersWell()
    if (closing.signal.aborted) return
    against = well === healthy ? 0 : against + 1
    if (against >= (healthy ? unhealthyAfter : healthyAfter)) {
      healthy = well
      against = 0
    }
    // Never in step with the other replicas.
    timer = setTimeout(check, intervalMs * (0.8 + Math.random() * 0.4)).unref()
  }

  void check()
  return {
    isHealthy: () => healthy,
    close() {
      closing.abort()
      clearTimeout(timer)
    },
  }
}
