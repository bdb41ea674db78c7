/** The share of its weight that a target has while it warms up: it grows linearly with time. */
export type WarmUp = ReturnType<typeof createWarmUp>

/** The share at the beginning, as in Envoy: with less, it would never be asked. */
const minShare = 0.1

/** `onWarming` gets the time at which the target is warm. `now` gives milliseconds. */
export function createWarmUp(onWarming: (until: number) => void, now = () => performance.now()) {
  let since = 0
  let lasts = 0

  return {
    /** Begins at `from`, which may be in the future. */
    start(from: number, forMs: number) {
      if (forMs === 0) return
      since = from
      lasts = forMs
      onWarming(from + forMs)
    },
    /** The target is warm. */
    stop() {
      lasts = 0
    },
    /** When the target is warm; 0: it is. */
    warmAt: () => (lasts === 0 ? 0 : since + lasts),
    /** Above 0, and 1 once it is warm. */
    share() {
      if (lasts === 0) return 1
      const share = (now() - since) / lasts
      if (share >= 1) lasts = 0
      return Math.min(1, Math.max(minShare, share))
    },
  }
}
