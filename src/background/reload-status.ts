import { failureText } from './failure-text.ts'

/** How often a persistent failure is reported again. */
const REMIND_MS = 60_000

/** Counts attempts to load something new, and reports a failure once a minute at most. */
export function createReloadStatus(report: (reason: string) => void, now: () => number = Date.now) {
  const counts = { ok: 0, failed: 0 }
  let failure: { readonly error: unknown; readonly text: string; reportedAt: number } | undefined

  return {
    loaded() {
      counts.ok++
    },
    failed(error: unknown) {
      counts.failed++
      const text = failureText(error)
      const reportedAt = failure?.text === text ? failure.reportedAt : Number.NEGATIVE_INFINITY
      const isDue = now() - reportedAt >= REMIND_MS
      failure = { error, text, reportedAt: isDue ? now() : reportedAt }
      if (isDue) report(text)
    },
    /** Returns whether the attempt before had failed. */
    succeeded() {
      const hadFailed = failure !== undefined
      failure = undefined
      return hadFailed
    },
    failure: (): { readonly error: unknown; readonly text: string } | undefined => failure,
    counts: () => ({ ...counts }),
  }
}
