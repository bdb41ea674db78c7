import { Fault } from '../../kernel/errors.ts'
import type { Purpose, Signed, Statement } from '../../signing/statement.ts'
import {
  documentMismatch,
  findAmong,
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
interface NamedRevision {
  readonly revision: string
  readonly signed?: Signed | undefined
}

/**
 * Lets only signed policies pass, whatever Redis and files contain. It depends on the configuration
 * alone: a missing signature is a reason to refuse, like a wrong one.
 */
export type TrustGate = ReturnType<typeof createTrustGate>

/** Signed statements, from one place after the other until enough are found. */
type ReadEarlier = () => AsyncIterable<readonly (Signed | undefined)[]>

type RejectionCounts = Record<RejectionReason, number>

/** All at zero: an alert on the first rejection needs a series that begins there. */
export function createRejectionCounts(): RejectionCounts {
  return Object.fromEntries(rejections.map((reason) => [reason, 0])) as RejectionCounts
}

export function createTrustGate(
  trust: Trust,
  purpose: Purpose,
  counts: RejectionCounts = createRejectionCounts(),
) {
  function refuse(revision: string, { rejection, message }: Rejection): never {
    counts[rejection]++
    throw new Fault('policies', { reason: `${revision} rejected (${rejection}): ${message}` })
  }

  return {
    /**
     * The statement of what was found, if it is signed for this purpose and may follow the known one.
     * `earlier`: what was signed before, asked for only if statements between the two are needed. Throws a
     * Fault otherwise.
     */
    async verify(found: NamedRevision, known?: Verified, earlier?: ReadEarlier) {
      const { revision, signed } = found
      const isKnown = known !== undefined && signed?.statement === known.signed.statement
      // The statement that is active already was verified when it became active.
      const verified = isKnown ? known : verifySigned(signed, purpose, trust)
      if (isRejection(verified)) return refuse(revision, verified)
      const { statement } = verified
      const problem =
        documentMismatch(statement, { revision }) ??
        (known === undefined || isKnown
          ? undefined
          : await stalenessAmong(statement, known.statement, { trust, earlier }))
      return problem === undefined ? verified : refuse(revision, problem)
    },
    /** Throws a Fault unless the statement is about the document with this checksum. */
    checkDocument({ statement }: Verified, checksum: string) {
      const { revision } = statement
      const problem = documentMismatch(statement, { revision, checksum })
      if (problem !== undefined) refuse(revision, problem)
    },
    required: trust.signatures,
    /** How often it refused, by reason. */
    rejected: (): Readonly<Record<RejectionReason, number>> => ({ ...counts }),
  }
}

async function stalenessAmong(
  statement: Statement,
  known: Statement,
  { trust, earlier }: { readonly trust: Trust; readonly earlier: ReadEarlier | undefined },
): Promise<Rejection | undefined> {
  let problem = staleness(statement, known, () => undefined)
  const found: (Signed | undefined)[] = []
  for await (const more of earlier?.() ?? []) {
    if (problem?.rejection !== 'unknown-predecessor') break
    found.push(...more)
    problem = staleness(statement, known, findAmong(found, trust))
  }
  return problem
}
