import type { ReplicaFacts } from '../../../fleet/replica-facts.ts'
import type { Signed } from '../../../signing/statement.ts'
import { readFields, readMembers, readTexts } from '../../redis/bounded-reads.ts'
import { loadScript, type RedisClient } from '../../redis/redis.ts'
import { policyKeys } from '../document/policy-keys.ts'
import { sequenceFunction } from '../document/publish-script.ts'
import { isGone, mayBeGone, type OwnProcess, processIn } from './replica-identity.ts'
import {
  boundedError,
  GONE_MS,
  type ReplicaReport,
  readReport,
  type SignedReport,
} from './replica-report.ts'

export { REPORT_EVERY_MS, type ReplicaReport, type SignedReport } from './replica-report.ts'

/** What a replica knows when it reports. */
interface OwnReport {
  readonly id: string
  readonly revision: string | undefined
  readonly sequence: number | undefined
  readonly stale: boolean
  readonly lastError?: string | undefined
  /** What its policy was signed with: commands can verify it, also after Redis lost everything else. */
  readonly signed?: Signed | undefined
  readonly version: string
  readonly process?: OwnProcess
  readonly facts?: ReplicaFacts | undefined
}

const reportScript = loadScript(new URL('./lua/report-replica.lua', import.meta.url), {
  sequenceFunction,
})

/** A day: longer than an outage goes unnoticed, and short enough for a list that people read. */
const defaultMemoryMs = 24 * 60 * 60 * 1000
/** Ten times the largest fleet that we speak of; each takes 300 to 800 bytes of Redis. */
const MAX_KNOWN = 10_000
/** Longer than a host name, a PID and six digits. */
const maxId = 320
/** In bytes; the error in it is bounded too. */
const maxReport = 16 * 1024
/** Of a statement and its signatures within it; a usual one with two takes 1 KiB. */
const maxSigned = 8 * 1024

/** The replicas that report to one Redis. */
export type Replicas = ReturnType<typeof createReplicas>

/** With `memoryMs`, reports forget the replicas that have been silent for longer. */
export function createReplicas(redis: RedisClient, memoryMs = defaultMemoryMs) {
  const keys = policyKeys(redis.prefix)

  /** At an orderly end, or when a person says that it no longer runs. */
  async function forget(id: string): Promise<void> {
    await redis.run((commands) => commands.zrem(keys.knownReplicas, id))
    await redis.run((commands) => commands.hdel(keys.replicaReports, id))
    await redis.run((commands) => commands.del(keys.replica(id)))
    await redis.run((commands) => commands.zrem(keys.replicas, id))
  }

  /** The newest ones: reports keep the index bounded, but others may write to Redis too. */
  async function timesIn(index: string): Promise<ReadonlyMap<string, number>> {
    return new Map(await readMembers(redis, index, { from: -MAX_KNOWN, to: -1, maxBytes: maxId }))
  }

  async function reportsOf(ids: readonly string[]): Promise<readonly (string | undefined)[]> {
    return readFields(redis, keys.replicaReports, { fields: ids, maxBytes: maxReport })
  }

  /** Replicas of version 0.1.0, which are listed for ten seconds after their last report. */
  async function textsOfOld(ids: readonly string[]): Promise<readonly (string | undefined)[]> {
    return ids.length === 0 ? [] : readTexts(redis, ids.map(keys.replica), maxReport)
  }

  return {
    forget,
    /** Returns whether a console watches decisions. */
    async report({ id, lastError, signed, ...own }: OwnReport) {
      const touched = [
        keys.knownReplicas,
        keys.replicaReports,
        keys.highest,
        keys.replica(id),
        keys.replicas,
        keys.decisionWatch,
      ]
      const fits = JSON.stringify(signed ?? '').length <= maxSigned
      const report = JSON.stringify({
        ...own,
        ...boundedError(lastError),
        ...(signed !== undefined && fits && { signed }),
      })
      const values = [id, report, own.sequence ?? 0, memoryMs, MAX_KNOWN, GONE_MS]
      return (await redis.runScript(reportScript, touched, values)) === 1
    },
    /** Forgets those that ran on this host and are certain to have ended. To be called at the start. */
    async forgetEnded(own: OwnProcess) {
      const known = await timesIn(keys.knownReplicas)
      // A fleet that starts at once must not read a thousand reports a thousand times.
      const ids = [...known.keys()].filter((id) => mayBeGone(id, own))
      if (ids.length === 0) return
      const texts = await reportsOf(ids)
      for (const [at, id] of ids.entries()) {
        if (isGone(processIn(texts[at] ?? ''), own)) await forget(id)
      }
    },
    /** Replicas that reported within the time for which replicas are known, by id. */
    list: async (): Promise<readonly ReplicaReport[]> =>
      (await listed()).map(({ signed: _, ...report }) => report),
    /** These replicas with the signatures of their policies. */
    signed: listed,
  }

  async function listed(): Promise<readonly SignedReport[]> {
    const [seconds, micros] = await redis.run((commands) => commands.time())
    const now = Number(seconds) * 1000 + Number(micros) / 1000
    const known = await timesIn(keys.knownReplicas)
    const reports = await reportsOf([...known.keys()])
    const recent = await timesIn(keys.replicas)
    const old = [...recent.keys()].filter((id) => !known.has(id))
    const oldTexts = await textsOfOld(old)

    const all = [
      ...[...known].map(([id, at], index) => ({ id, at, text: reports[index] ?? '' })),
      ...old.map((id, index) => ({ id, at: recent.get(id) ?? 0, text: oldTexts[index] ?? '' })),
    ]
    return all
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap(({ id, at, text }) => readReport(id, text, { now, at }) ?? [])
  }
}
