import { isRecord, readJson } from '../../../kernel/json.ts'
import type { Evidence } from '../../../policy/shadow/evidence.ts'
import { readEvidence } from '../../../policy/shadow/read-evidence.ts'
import { latestTime } from '../../latest-time.ts'
import { readFields, readMembers } from '../../redis/bounded-reads.ts'
import type { RedisClient } from '../../redis/redis.ts'
import { policyKeys } from '../document/policy-keys.ts'
import { reportShadowScript } from './shadow-scripts.ts'

/** What one replica says about the shadow. */
interface ShadowReport {
  readonly id: string
  /** When it said so, by the clock of Redis. */
  readonly at: string
  /** For how long it has evaluated the shadow without a break; 0 while it does not. */
  readonly evaluatingMs: number
  /** Why it does not. */
  readonly problem?: string
  readonly evidence: Evidence
}

export type OwnShadowReport = Omit<ShadowReport, 'at'>

/** Replicas that have ended count too; so many restarts within one shadow are an incident. */
const MAX_REPLICAS = 2000
/** In bytes: fifty disagreements with texts of full length. */
const maxReport = 3 * 128 * 1024
const maxProblem = 500
/** Longer than any ID of a replica. */
const maxId = 320
/** Only for what a shadow leaves that did not end by a command. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000
const atATime = 50

/** The reports about the shadow in one Redis. */
export type ShadowReports = ReturnType<typeof createShadowReports>

export function createShadowReports(redis: RedisClient) {
  const keys = policyKeys(redis.prefix)

  return {
    /**
     * Returns whether the report was taken: the shadow may have ended, or too many have reported.
     */
    async report({ id, ...own }: OwnShadowReport, sequence: number) {
      const text = JSON.stringify(own)
      const touched = [keys.shadow, keys.shadowReplicas, keys.shadowReports]
      const values = [id, text, String(sequence), MAX_REPLICAS, KEPT_MS]
      return (await redis.runScript(reportShadowScript, touched, values)) === 1
    },
    async list(): Promise<readonly ShadowReport[]> {
      const within = { from: 0, to: MAX_REPLICAS - 1, maxBytes: maxId }
      const times = await readMembers(redis, keys.shadowReplicas, within)
      const reports: ShadowReport[] = []
      for (let from = 0; from < times.length; from += atATime) {
        const some = times.slice(from, from + atATime)
        const ids = some.map(([id]) => id)
        const bounds = { fields: ids, maxBytes: maxReport }
        const texts = await readFields(redis, keys.shadowReports, bounds)
        for (const [index, [id, at]] of some.entries()) {
          const report = readReport(id, texts[index] ?? '', at)
          if (report !== undefined) reports.push(report)
        }
      }
      return reports.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    },
  }
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= latestTime
}

function readReport(id: string, text: string, at: number): ShadowReport | undefined {
  if (!(Math.abs(at) <= latestTime)) return undefined
  const value = readJson(text)
  if (!isRecord(value)) return undefined
  const { evaluatingMs, problem, evidence } = value
  const read = readEvidence(evidence)
  if (read === undefined || !isDuration(evaluatingMs)) {
    return undefined
  }
  return {
    id,
    at: new Date(at).toISOString(),
    evaluatingMs,
    ...(typeof problem === 'string' && { problem: problem.slice(0, maxProblem) }),
    evidence: read,
  }
}
