import { failureText } from './failure-text.ts'

/** How often a failure that goes on is told again. */
const REMIND_MS = 60_000

/** How attempts to take in something new go: each is counted, and a failure is told, not repeated. */
interface ReloadStatus {
  /** Something new came into force. */
  readonly loaded: () => void
  /** The last attempt failed. Told at once when it is news, and every minute while it is not. */
  readonly failed: (error: unknown) => void
  /** The last attempt went well. Says whether the one before had failed. */
  readonly succeeded: () => boolean
  readonly failure: () => { readonly error: unknown; readonly text: string } | undefined
  readonly reloads: () => { readonly ok: number; readonly failed: number }
}

/** No attempt has been made yet. */
export function createReloadStatus(
  tell: (reason: string) => void,
  now: () => number = Date.now,
): ReloadStatus {
  const reloads = { ok: 0, failed: 0 }
  let failure: { readonly error: unknown; readonly text: string; toldAt: number } | undefined

  return {
    loaded() {
      reloads.ok++
    },
    failed(error) {
      reloads.failed++
      const text = failureText(error)
      const toldAt = failure?.text === text ? failure.toldAt : Number.NEGATIVE_INFINITY
      const isNew = now() - toldAt >= REMIND_MS
      failure = { error, text, toldAt: isNew ? now() : toldAt }
      if (isNew) tell(text)
    },
    succeeded() {
      const hadFailed = failure !== undefined
      failure = undefined
      return hadFailed
    },
    failure: () => failure,
    reloads: () => ({ ...reloads }),
  }
}
