/**
 * Limits retries to a share of the requests sent, plus a few. Without a budget, retries would be the
 * load that keeps a failing upstream down.
 */
export type RetryBudget = ReturnType<typeof createRetryBudget>

/** Starts with `least` retries. Requests add up to a hundred times `share` to that. */
export function createRetryBudget({ share = 0.2, least = 10 } = {}) {
  const most = least + share * 100
  let retries = least

  return {
    /** A request was sent for the first time. */
    sent() {
      retries = Math.min(most, retries + share)
    },
    /** Takes one retry, if the budget has one. */
    take() {
      if (retries < 1) return false
      retries--
      return true
    },
  }
}
