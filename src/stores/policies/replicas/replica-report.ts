import { readFacts } from '../../../fleet/read-facts.ts'
import type { ReplicaFacts } from '../../../fleet/replica-facts.ts'
import { hasStrings, readJson } from '../../../kernel/json.ts'
import { readSigned, type Signed } from '../../../signing/statement.ts'
import { isSequence, latestTime } from '../../latest-time.ts'

/** What a replica says of itself, and how long ago. */
export interface ReplicaReport {
  readonly id: string
  readonly revision: string | undefined
  readonly sequence: number | undefined
  readonly at: string
  readonly ageSeconds: number
  /** It could not confirm its policy when it last tried, or its report is overdue. */
  readonly stale: boolean
  /** It stopped reporting without a shutdown: it may still run, and decide by its last policy. */
  readonly lost: boolean
  /** Why it could not load or confirm the newest policy, when it last tried. */
  readonly lastError?: string
  readonly version: string
  /** Absent in reports of versions before 0.3.0. */
  readonly facts?: ReplicaFacts
}

/** A report, and what the policy of the replica was signed with, as it says. */
export interface SignedReport extends ReplicaReport {
  readonly signed?: Signed
}

/** A report is written every two seconds by each replica, and people read the error in a list. */
const maxErrorLength = 500
const maxNameLength = 80

/** The error as it is stored and shown. */
export function boundedError(error: unknown): { readonly lastError?: string } {
  if (typeof error !== 'string' || error === '') return {}
  const isCut = error.length > maxErrorLength
  return { lastError: isCut ? `${error.slice(0, maxErrorLength)}…`.toWellFormed() : error }
}

/** How often a replica reports, when that is overdue, and when it counts as lost. */
export const REPORT_EVERY_MS = 2000
export const OVERDUE_MS = 2.5 * REPORT_EVERY_MS
export const GONE_MS = 5 * REPORT_EVERY_MS

/** Reads a report that was stored; `undefined` for an entry that no replica wrote. */
export function readReport(
  id: string,
  text: string,
  { now, at }: { readonly now: number; readonly at: number },
): SignedReport | undefined {
  const value = readJson(text)
  if (!hasStrings(value, ['version']) || !(Math.abs(at) <= latestTime)) return undefined
  const { revision, sequence, stale, lastError, version } = value
  const facts = readFacts(value['facts'])
  const signed = readSigned(value['signed'])
  const ageMs = Math.max(0, now - at)
  return {
    id,
    revision: typeof revision === 'string' ? revision.slice(0, maxNameLength) : undefined,
    sequence: isSequence(sequence) ? sequence : undefined,
    at: new Date(at).toISOString(),
    ageSeconds: Math.round(ageMs / 100) / 10,
    stale: stale === true || ageMs > OVERDUE_MS,
    lost: ageMs > GONE_MS,
    ...boundedError(lastError),
    version: String(version).slice(0, maxNameLength),
    ...(facts !== undefined && { facts }),
    ...(signed !== undefined && { signed }),
  }
}
