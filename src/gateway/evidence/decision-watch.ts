import {
  type DecisionBatch,
  decisionsPerBatch,
  readDecision,
  type WatchedDecision,
} from '../../fleet/decision-batch.ts'
import type { Admit } from '../pipeline.ts'
import type { Authorized, Received } from '../stages.ts'
import type { DecisionRecord } from './decision-record.ts'

type Describe = (received: Received, came: unknown) => DecisionRecord | undefined

export type DecisionWatch = ReturnType<typeof createDecisionWatch>

interface Seen {
  readonly decisions: WatchedDecision[]
  readonly left: { allow: number; deny: number }
  leftOut: number
}

/** Longer than those who watch pause between two calls. */
const watchMs = 3000

/**
 * Lets the console see decisions as they are made. While no one watches, a request pays one comparison.
 * While someone does, few are described and the others counted; refusals have a share of their own, so
 * that many allowed requests do not hide them.
 */
export function createDecisionWatch() {
  let seen: Seen | undefined
  let timer: NodeJS.Timeout | undefined

  function note(received: Received, came: unknown, describe: Describe): void {
    if (seen === undefined) return
    const kind = came instanceof Error ? 'deny' : 'allow'
    if (seen.left[kind] === 0) {
      seen.leftOut++
      return
    }
    const record = describe(received, came)
    if (record === undefined) return
    seen.left[kind]--
    seen.decisions.push(shorten(record))
  }

  async function noteLater(
    received: Received,
    coming: Promise<Authorized>,
    describe: Describe,
  ): Promise<Authorized> {
    try {
      const came = await coming
      note(received, came.grounds, describe)
      return came
    } catch (error) {
      note(received, error, describe)
      throw error
    }
  }

  return {
    /** Wraps `admit`, so that decisions are seen while someone watches. */
    wrap(admit: Admit, describe: Describe): Admit {
      return (received, stages) => {
        if (seen === undefined) return admit(received, stages)
        try {
          const came = admit(received, stages)
          // Most are known at once, and a promise for each would cost more than the watching.
          if (came instanceof Promise) return noteLater(received, came, describe)
          note(received, came.grounds, describe)
          return came
        } catch (error) {
          note(received, error, describe)
          throw error
        }
      }
    },
    /**
     * What was seen since the last call. Watching begins with the first call, and ends soon after
     * the last.
     */
    take(): DecisionBatch {
      const { decisions, leftOut } = seen ?? { decisions: [], leftOut: 0 }
      seen = { decisions: [], left: { ...decisionsPerBatch }, leftOut: 0 }
      clearTimeout(timer)
      timer = setTimeout(() => {
        seen = undefined
      }, watchMs).unref()
      return { decisions, leftOut }
    },
  }
}

function shorten(record: DecisionRecord): WatchedDecision {
  const { subject, rule, labels } = record
  return readDecision({
    ...record,
    at: record.timestamp,
    gateway: labels.pod,
    role: subject?.role_key,
    user: subject?.user_id,
    rule: rule && `${rule.file}:${rule.line}`,
    request: record.request_id,
  })
}
