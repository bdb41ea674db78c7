/** Bytes that a client sends while we wait for them. */
export interface Transfer {
  /** What has come in the window that is under way. */
  bytes: number
  /** The tick at which that window began. */
  since: number
  /** Where it is in the list of all; -1 while it is not. */
  place: number
  /** Whether the client is what keeps it from going on. */
  readonly waitsForClient: () => boolean
  readonly tooSlow: () => void
}

interface TransferRateSettings {
  /** 0: any rate will do. */
  readonly minBytesPerSecond: number
  readonly minRateWindowMs: number
}

/** Ends transfers that are slower than the minimum rate. */
export interface TransferRates {
  readonly enter: (transfer: Transfer) => void
  readonly leave: (transfer: Transfer) => void
  /** We kept it waiting until now: its window begins anew. */
  readonly restart: (transfer: Transfer) => void
  readonly close: () => void
}

const ticksInWindow = 4

/**
 * Looks at all transfers a few times in each window. A window in which less came than the minimum rate
 * asks for ends a transfer, unless we had stopped reading in between. What comes in bursts is fine as
 * long as each window has enough of it.
 */
export function createTransferRates(settings: TransferRateSettings): TransferRates {
  const { minBytesPerSecond, minRateWindowMs } = settings
  const least = (minBytesPerSecond * minRateWindowMs) / 1000
  const open: Transfer[] = []
  let ticks = 0
  let clock: NodeJS.Timeout | undefined

  function tick(): void {
    ticks++
    // From the end: one that leaves is replaced by the last, which was looked at.
    for (let at = open.length - 1; at >= 0; at--) {
      const transfer = open[at]
      if (transfer === undefined) continue
      if (!transfer.waitsForClient()) restart(transfer)
      else if (ticks - transfer.since > ticksInWindow) judge(transfer)
    }
    if (open.length === 0) stop()
  }
  function judge(transfer: Transfer): void {
    if (transfer.bytes >= least) restart(transfer)
    else {
      leave(transfer)
      transfer.tooSlow()
    }
  }
  function restart(transfer: Transfer): void {
    transfer.bytes = 0
    transfer.since = ticks
  }
  function leave(transfer: Transfer): void {
    const { place } = transfer
    if (place === -1) return
    transfer.place = -1
    const last = open.pop()
    if (last === undefined || last === transfer) return
    open[place] = last
    last.place = place
  }
  function stop(): void {
    clearInterval(clock)
    clock = undefined
  }

  return {
    enter(transfer) {
      if (least === 0 || transfer.place !== -1) return
      transfer.place = open.push(transfer) - 1
      restart(transfer)
      clock ??= setInterval(tick, minRateWindowMs / ticksInWindow).unref()
    },
    leave,
    restart,
    close: stop,
  }
}
