/** A request body in progress. */
export interface Transfer {
  /** Received in the current window. */
  bytes: number
  /** The tick at which that window began. */
  since: number
  /** The index in the list of transfers, or -1. */
  index: number
  /** Whether the client, not we, causes the delay. */
  readonly waitsForClient: () => boolean
  readonly tooSlow: () => void
}

interface TransferRateSettings {
  /** 0: no minimum. */
  readonly minBytesPerSecond: number
  readonly minRateWindowMs: number
}

/** Ends transfers that are slower than the minimum rate. */
export type TransferRates = ReturnType<typeof createTransferRates>

const ticksInWindow = 4

/**
 * Checks all transfers a few times per window. A transfer ends if a window brings less than the minimum
 * rate, unless we had paused it. Bursts are fine if each window has enough bytes.
 */
export function createTransferRates(settings: TransferRateSettings) {
  const { minBytesPerSecond, minRateWindowMs } = settings
  const least = (minBytesPerSecond * minRateWindowMs) / 1000
  const open: Transfer[] = []
  let ticks = 0
  let clock: NodeJS.Timeout | undefined

  function tick(): void {
    ticks++
    // Backwards: a removed entry is replaced by the last one, which was checked already.
    for (let at = open.length - 1; at >= 0; at--) {
      const transfer = open[at]
      if (transfer === undefined) continue
      if (!transfer.waitsForClient()) restart(transfer)
      else if (ticks - transfer.since > ticksInWindow) check(transfer)
    }
    if (open.length === 0) stop()
  }
  function check(transfer: Transfer): void {
    if (transfer.bytes >= least) restart(transfer)
    else {
      leave(transfer)
      transfer.tooSlow()
    }
  }
  /** Begins a new window, because we had paused the client. */
  function restart(transfer: Transfer): void {
    transfer.bytes = 0
    transfer.since = ticks
  }
  function leave(transfer: Transfer): void {
    const { index } = transfer
    if (index === -1) return
    transfer.index = -1
    const last = open.pop()
    if (last === undefined || last === transfer) return
    open[index] = last
    last.index = index
  }
  function stop(): void {
    clearInterval(clock)
    clock = undefined
  }

  return {
    enter(transfer: Transfer) {
      if (least === 0 || transfer.index !== -1) return
      transfer.index = open.push(transfer) - 1
      restart(transfer)
      clock ??= setInterval(tick, minRateWindowMs / ticksInWindow).unref()
    },
    leave,
    restart,
    close: stop,
  }
}
