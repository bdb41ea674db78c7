import { pause } from './lib/live/pauses.ts'

/** Browsers open six connections to a host over HTTP/1.1; the others are for questions. */
const slotCount = 4
const retryMs = 2000

/**
 * Runs `work` while one of the slots that all tabs of this browser share is free for it. Without free
 * ones it calls `onWait` and tries again, until the signal ends it.
 */
export async function inLiveSlot(
  signal: AbortSignal,
  onWait: () => void,
  work: () => Promise<void>,
): Promise<void> {
  // Absent in pages over plain HTTP from another machine.
  const { locks } = navigator as { readonly locks?: LockManager }
  if (locks === undefined) return work()
  while (!signal.aborted) {
    for (let slot = 0; slot < slotCount && !signal.aborted; slot++) {
      const hasRun = await locks.request(
        `postern-live-${slot}`,
        { ifAvailable: true },
        async (lock) => {
          if (lock !== null) await work()
          return lock !== null
        },
      )
      if (hasRun) return
    }
    onWait()
    await pause(retryMs, signal)
  }
}
