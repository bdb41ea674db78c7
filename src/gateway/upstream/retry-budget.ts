/**
 * Limits retries to a share of the requests sent, plus a few. Without a budget, retries would be the
 * load that keeps a failing upstream down.
 */
export interface RetryBudget {
  /** A request was sent for the first time. */
  readonly sent: () => void
  /** Takes one retry, if the budget has one. */
  readonly take: () => boolean
}

/** Starts with `least` retries. Requests add up to a hundred times `share` to that. */
export function createRetryBudget({ share = 0.2, least = 10 } = {}): RetryBudget {
  const most = least + share * 100
  let retries = least

  return {
    sent() {
      retries = Math.min(most, retries + share)
    },
    take() {
      if (retries < 1) return false
      retries--
      return true
    },
  }
}
