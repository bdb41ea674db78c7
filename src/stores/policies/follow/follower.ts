import { setTimeout as pause } from 'node:timers/promises'
import type { FeedLog } from '../../../background/feed-log.ts'
import { createPolling } from '../../../background/polling.ts'
import { createReloadStatus } from '../../../background/reload-status.ts'
import { Fault } from '../../../kernel/errors.ts'
import { type MetricRegistry, secondsOf } from '../../../metrics/registry.ts'
import { addReloadMetrics } from '../../../metrics/reload-metrics.ts'
import type { Imported } from '../../../policy/import/import-rows.ts'
import { importWhole } from '../../../policy/import/merged-table.ts'
import type { Model } from '../../../policy/model/model.ts'
import type { WatchedTable } from './table-fingerprint.ts'

/** The author of what is published, in history, audit log and log lines. */
export const followAuthor = 'go-admin'

/** What came of the imported rules. */
export interface Followed {
  readonly revision: string
  readonly added: number
  readonly removed: number
}

/** What operators see of it. */
export type FollowState = ReturnType<ReturnType<typeof createFollower>['state']>

interface FollowerParts {
  readonly table: WatchedTable
  /** The model that says what a domain means; unset, or without a value: the rows have none. */
  readonly domainModel?: () => Promise<Model | undefined>
  /** Publishes the rules. Throws when they must not or cannot be published: that is tried again. */
  readonly publish: (imported: Imported) => Promise<Followed>
  readonly log: FeedLog
  readonly everyMs: number
  /** go-admin saves a role in several transactions: the rows must be equal for this long. */
  readonly settleMs?: number
  readonly onChange?: () => void
}

/** A table that changes at every look for so many looks is not one that a person saves. */
const maxUnsettled = 20

/**
 * Keeps a policy up to date with go-admin's table. States:
 *
 * - following: the table is the one that was published. Left when its fingerprint changes.
 * - settling: it changed, and must be the same twice before its rows count.
 * - stopped: the rows cannot be imported in full, or cannot be published, or the database is
 *   unreachable. The last good revision stays active. Left when an attempt succeeds.
 */
export function createFollower(parts: FollowerParts) {
  const { table, publish, log, settleMs = 500, onChange = () => {} } = parts
  const reloads = createReloadStatus((reason) =>
    log.warn({ reason, revision }, 'go-admin policy rejected; keeping the last good revision'),
  )
  let done: string | undefined
  let unsettled = 0
  let revision: string | undefined
  let rowCount: number | undefined
  let checkedAt: string | undefined
  let publishedAt: string | undefined

  async function attempt(): Promise<'unanswered' | undefined> {
    let outcome: 'unanswered' | undefined
    try {
      outcome = await follow()
      checkedAt = new Date().toISOString()
      if (outcome === undefined && reloads.succeeded())
        log.info({ revision }, 'go-admin policy recovered')
    } catch (error) {
      reloads.failed(error)
    }
    onChange()
    return outcome
  }

  async function follow(): Promise<'unanswered' | undefined> {
    const seen = await table.fingerprint()
    if (seen === done) return undefined
    await pause(settleMs)
    const rows = await table.rows()
    if ((await table.fingerprint()) !== seen) {
      unsettled++
      if (unsettled < maxUnsettled) return 'unanswered'
      throw new Fault('policies', { reason: 'the Casbin table changes all the time' })
    }
    unsettled = 0
    const previous = revision
    const model = await parts.domainModel?.()
    const followed = await publish(importWhole(rows, 'the Casbin table', model))
    revision = followed.revision
    rowCount = rows.length
    done = seen
    if (followed.added + followed.removed === 0 && previous === undefined) return undefined
    publishedAt = new Date().toISOString()
    reloads.loaded()
    const { added, removed } = followed
    log.info(
      { revision, previous, author: followAuthor, rows: rowCount, added, removed },
      'go-admin policy published',
    )
    return undefined
  }

  const polling = createPolling(attempt, parts.everyMs)
  return {
    state: () => ({
      // What was last published, or found to be published already; when the table was last compared, and
      // when it last changed what is published.
      ...{ revision, rows: rowCount, checkedAt, publishedAt },
      /** Why nothing is published, if so; the last good revision stays active. */
      stopped: reloads.failure()?.text,
      reloads: reloads.counts(),
    }),
    /** Compares now; does not throw. From then on it goes on by itself. */
    start: polling.now,
    close: polling.close,
  }
}

/** Shows whether the policy follows go-admin's table. */
export function addFollowMetrics(registry: MetricRegistry, read: () => FollowState): void {
  addReloadMetrics(
    registry,
    {
      prefix: 'postern_policy_follow',
      total: "Changes of go-admin's Casbin table: ok if published, failed if not.",
      success: "0 while go-admin's Casbin table cannot be followed and the last good policy stays.",
    },
    () => ({ reloads: read().reloads, lastError: read().stopped }),
  )
  registry.readGauge({
    name: 'postern_policy_follow_checked_timestamp_seconds',
    help: "When go-admin's Casbin table was last compared with the policy.",
    aggregate: 'max',
    read: () => secondsOf(read().checkedAt),
  })
}
