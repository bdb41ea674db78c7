import { Fault } from '../../errors.ts'
import type { Purpose, Signed } from '../../signing/statement.ts'
import {
  documentMismatch,
  isRejection,
  type Rejection,
  type RejectionReason,
  rejections,
  staleness,
  type Trust,
  type Verified,
  verifySigned,
} from '../../signing/trust.ts'

/** What Redis or a snapshot names, with the signatures that came with it. */
interface Found {
  readonly revision: string
  readonly signed?: Signed | undefined
}

/**
 * Lets only signed policies pass, whatever Redis and files contain. It depends on the configuration
 * alone: a missing signature is a reason to refuse, like a wrong one.
 */
export interface TrustGate {
  /**
   * The statement of what was found, if it is signed for this purpose and may follow the known one.
   * Throws a Fault otherwise.
   */
  readonly verify: (found: Found, known?: Verified) => Verified
  /** Throws a Fault unless the statement is about the document with this checksum. */
  readonly checkDocument: (verified: Verified, checksum: string) => void
  readonly required: number
  /** How often it refused, by reason. */
  readonly rejected: () => Readonly<Record<RejectionReason, number>>
}

type RejectionCounts = Record<RejectionReason, number>

/** All at zero: an alert on the first rejection needs a series that begins there. */
export function createRejectionCounts(): RejectionCounts {
  return Object.fromEntries(rejections.map((reason) => [reason, 0])) as RejectionCounts
}

export function createTrustGate(
  trust: Trust,
  purpose: Purpose,
  counts: RejectionCounts = createRejectionCounts(),
): TrustGate {
  function refuse(revision: string, { rejection, message }: Rejection): never {
    counts[rejection]++
    throw new Fault('policies', { reason: `${revision} rejected (${rejection}): ${message}` })
  }

  return {
    verify(found, known) {
      const { revision, signed } = found
      const isKnown = known !== undefined && signed?.statement === known.signed.statement
      // The statement that is active already was verified when it became active.
      const verified = isKnown ? known : verifySigned(signed, purpose, trust)
      if (isRejection(verified)) return refuse(revision, verified)
      const { statement } = verified
      const problem =
        documentMismatch(statement, { revision }) ??
        (known === undefined || isKnown ? undefined : staleness(statement, known.statement))
      return problem === undefined ? verified : refuse(revision, problem)
    },
    checkDocument({ statement }, checksum) {
      const { revision } = statement
      const problem = documentMismatch(statement, { revision, checksum })
      if (problem !== undefined) refuse(revision, problem)
    },
    required: trust.signatures,
    rejected: () => ({ ...counts }),
  }
}
