import { failureText } from '../../../background/failure-text.ts'
import type { FeedLog } from '../../../background/feed-log.ts'
import { createOutbox } from '../../../background/outbox.ts'
import type { CompiledPolicies } from '../../../policy/engine/decision.ts'
import type { Evidence, ShadowCounts } from '../../../policy/shadow/evidence.ts'
import { parseShadowHead, type ShadowHead } from './shadow-head.ts'
import type { ShadowReports } from './shadow-reports.ts'

/** The part of a gateway that evaluates the shadow beside the live policy. */
export interface ShadowEvaluation {
  /** From now on; a sequence that it knows continues the counts. */
  start(policies: CompiledPolicies, sequence: number): void
  stop(): void
  /** About the shadow with this sequence; all 0 for one that was never started. */
  counts(sequence: number): ShadowCounts
  evidence(sequence: number): Evidence
}

/** What operators see of the shadow. */
export interface ShadowState extends ShadowCounts {
  readonly revision: string
  /** Since when this process evaluates it; `undefined` while it does not. */
  readonly since: string | undefined
  /** Why it does not. */
  readonly lastError: string | undefined
}

interface ShadowFeedParts {
  /** Loads and verifies what a head names, aside from the live policy. */
  readonly load: (head: ShadowHead, signal: AbortSignal) => Promise<CompiledPolicies>
  readonly evaluation: ShadowEvaluation
  readonly reports: ShadowReports
  /** The live revision. */
  readonly live: () => string | undefined
  readonly log: FeedLog
}

/**
 * Follows the shadow in Redis. Its states:
 *
 * - none: Redis has no shadow, or its revision is live.
 * - loading: it was found and is being loaded; a newer one aborts that.
 * - evaluating: every decision is compared with it.
 * - failed: it could not be loaded. Tried again after half a minute.
 *
 * An unreachable Redis changes nothing, and nothing here affects requests.
 */
export type ShadowFeed = ReturnType<typeof createShadowFeed>

const retryMs = 30_000
const reportEveryMs = 3000

interface Current {
  readonly head: ShadowHead
  readonly loading: AbortController
  /** By the monotonic clock, and by that of the system. */
  evaluating?: { readonly since: number; readonly at: string }
  failed?: { readonly reason: string; readonly at: number }
}

export function createShadowFeed(parts: ShadowFeedParts) {
  const { load, evaluation, reports, live, log } = parts
  let stored: string | undefined
  let seen: string | undefined
  let found: ShadowHead | undefined
  let current: Current | undefined
  let id: string | undefined
  const outbox = createOutbox({
    deliver: report,
    everyMs: reportEveryMs,
    log,
    failed: 'shadow report failed',
  })

  function settle(): void {
    if (stored !== seen) {
      seen = stored
      found = stored === undefined ? undefined : parseShadowHead(stored)
      if (stored !== undefined && found === undefined) {
        log.warn({}, 'stored shadow is invalid; end it with "postern policy shadow end"')
      }
    }
    // An older publisher leaves the shadow in Redis when it makes it live.
    const wanted = found?.revision === live() ? undefined : found
    const failedAt = current?.failed?.at ?? Number.POSITIVE_INFINITY
    if (wanted?.sequence !== current?.head.sequence || now() - failedAt >= retryMs) replace(wanted)
  }

  function replace(wanted: ShadowHead | undefined): void {
    current?.loading.abort()
    evaluation.stop()
    if (current !== undefined && wanted?.sequence !== current.head.sequence) {
      const { revision, sequence } = current.head
      log.info({ revision, ...evaluation.counts(sequence) }, 'shadow policy ended')
    }
    current = wanted && { head: wanted, loading: new AbortController() }
    if (current !== undefined) void take(current)
  }

  async function take(taken: Current): Promise<void> {
    const { loading } = taken
    const { revision, sequence, author } = taken.head
    try {
      const policies = await load(taken.head, loading.signal)
      if (loading.signal.aborted) return
      evaluation.start(policies, sequence)
      taken.evaluating = { since: now(), at: new Date().toISOString() }
      const { ruleCount: rules, engine } = policies
      log.info({ revision, sequence, rules, engine: engine.name, author }, 'shadow policy loaded')
    } catch (error) {
      if (loading.signal.aborted) return
      const reason = failureText(error)
      taken.failed = { reason, at: now() }
      log.warn({ revision, reason }, 'shadow policy rejected')
    }
    if (id !== undefined) outbox.wake()
  }

  async function report(): Promise<'idle' | undefined> {
    if (current === undefined || id === undefined) return 'idle'
    const { head, evaluating, failed } = current
    if (evaluating === undefined && failed === undefined) return 'idle'
    const own = {
      id,
      evaluatingMs: evaluating === undefined ? 0 : Math.round(now() - evaluating.since),
      ...(failed !== undefined && { problem: failed.reason }),
      evidence: evaluation.evidence(head.sequence),
    }
    await reports.report(own, head.sequence)
    return undefined
  }

  return {
    /** What the last poll found. Only remembers it: the live policy goes first. */
    found(text: string | undefined) {
      stored = text
    },
    /** Acts on what was found. To be called after each poll. */
    settle,
    state(): ShadowState | undefined {
      if (current === undefined) return undefined
      const { evaluating, failed } = current
      return {
        revision: current.head.revision,
        since: evaluating?.at,
        lastError: failed?.reason,
        ...evaluation.counts(current.head.sequence),
      }
    },
    /** Reports under this id from now on. */
    report(own: string) {
      id = own
      outbox.wake()
    },
    async close() {
      // The last requests count too.
      await outbox.close()
      current?.loading.abort()
    },
  }
}

function now(): number {
  return performance.now()
}
