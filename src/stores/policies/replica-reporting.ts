import { randomBytes } from 'node:crypto'
import { failureText } from '../../background/failure-text.ts'
import type { FeedLog } from '../../background/feed-log.ts'
import { createOutbox } from '../../background/outbox.ts'
import type { ReplicaFacts } from '../../fleet/replica-facts.ts'
import type { Signed } from '../../signing/statement.ts'
import type { PolicyState } from './policy-feed.ts'
import { ownProcess } from './replicas/replica-identity.ts'
import { REPORT_EVERY_MS, type Replicas } from './replicas/replicas.ts'

export type Reporting = ReturnType<typeof createReporting>

interface ReportingParts {
  readonly replicas: Replicas
  readonly version: string
  readonly state: () => PolicyState
  readonly signed: () => Signed | undefined
  /** `undefined` while the gateway is being built. */
  readonly facts?: (() => ReplicaFacts | undefined) | undefined
  /** Called with each report while a console watches decisions. */
  readonly onWatched?: (() => void) | undefined
  readonly log: FeedLog
}

/** Says every few seconds, and at every change, what this replica decides by. Failing is harmless. */
export function createReporting({
  replicas,
  version,
  state,
  signed,
  facts,
  onWatched,
  log,
}: ReportingParts) {
  const own = ownProcess()
  const id = `${own.host}-${own.pid}-${randomBytes(3).toString('hex')}`
  let hasTidied = false
  let reported = ''

  const outbox = createOutbox({
    async deliver({ isLast }) {
      if (isLast) return 'idle'
      const { revision, sequence, stale, lastError } = state()
      reported = fingerprint(state())
      const policy = { revision, sequence, stale, lastError, signed: signed() }
      const isWatched = await replicas.report({
        id,
        ...policy,
        version,
        process: own,
        facts: facts?.(),
      })
      if (isWatched) onWatched?.()
      if (!hasTidied) await replicas.forgetEnded(own)
      hasTidied = true
      return undefined
    },
    everyMs: REPORT_EVERY_MS,
    log,
    failed: 'replica report failed',
    fieldsOf: (error) => ({ id, reason: failureText(error) }),
    // If Redis is unreachable, the replica is listed as lost until it is forgotten.
    leave: () => replicas.forget(id),
  })
  return {
    id,
    /** To be called after anything that may have changed the state: reports if it did. */
    changed() {
      if (fingerprint(state()) !== reported) outbox.wake()
    },
    close: () => outbox.close(),
  }
}

function fingerprint({ revision, sequence, stale, lastError }: PolicyState): string {
  return JSON.stringify([revision, sequence, stale, lastError])
}
