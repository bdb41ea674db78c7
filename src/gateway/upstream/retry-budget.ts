/**
 * How many requests may be tried again: a share of those that were sent, and a few besides. When
 * an upstream is failing, retries without a budget would be the load that keeps it down.
 */
export interface RetryBudget {
  /** A request was sent for the first time. */
  readonly sent: () => void
  /** Takes the place of one retry, if there is one. */
  readonly take: () => boolean
}

/** Starts with `least` places, and has never more than a hundred times the share besides. */
export function createRetryBudget({ share = 0.2, least = 10 } = {}): RetryBudget {
  const most = least + share * 100
  let places = least

  return {
    sent() {
      places = Math.min(most, places + share)
    },
    take() {
      if (places < 1) return false
      places--
      return true
    },
  }
}
