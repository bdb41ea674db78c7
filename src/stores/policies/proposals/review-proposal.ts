import { parseStatement, type Statement } from '../../../signing/statement.ts'
import { signersOf, type Trust } from '../../../signing/trust.ts'
import { isFarAhead, type LiveState } from './live-state.ts'
import type { Proposal } from './proposal.ts'

/** A proposal, and what may be done with it. */
export interface ReviewedProposal {
  readonly proposal: Proposal
  readonly statement: Statement
  /**
   * `approved`: enough have signed, so it may be published. `stale`: another policy is live than the
   * one that it was compared with.
   */
  readonly state: 'open' | 'approved' | 'stale'
  /** The names of the trusted keys that signed it. */
  readonly signers: readonly string[]
  /** Their signatures; without `policy.trust` all, not verified. */
  readonly signatures: readonly string[]
  /** Signatures that do not count, and without `policy.trust` all of them. */
  readonly otherSignatures: number
  /** How many signatures it needs; 0 without `policy.trust`. */
  readonly needed: number
}

/** What a proposal is reviewed against. */
interface ReviewParts {
  readonly live: LiveState
  readonly trust: Trust | undefined
  readonly now: number
}

/** What `policy.trust` and the live policy say about a proposal; `undefined` when it is not valid. */
export function reviewProposal(
  proposal: Proposal,
  { live, trust, now }: ReviewParts,
): ReviewedProposal | undefined {
  const statement = parseStatement(proposal.statement)
  if (statement?.purpose !== 'live' || statement.revision !== proposal.revision) return undefined
  // Someone who can write to Redis may have put it there for others to sign: it must neither exclude
  // later statements nor claim to follow them.
  const { serial, after } = statement
  // A clock that ran ahead may have made the live one, which the next has to follow.
  const latest = Math.max(now, live.after?.serial ?? 0)
  if (isFarAhead(serial, latest) || (after?.serial ?? 0) >= serial) return undefined
  const all = [...proposal.signatures.values()]
  const counting =
    trust === undefined ? new Map<string, string>() : bySigner(proposal.statement, all, trust)
  const needed = trust?.signatures ?? 0
  const isApproved = counting.size >= needed
  return {
    ...{ proposal, statement, needed },
    state: isStale(statement, proposal, live) ? 'stale' : isApproved ? 'approved' : 'open',
    signers: [...counting.keys()],
    signatures: trust === undefined ? all : [...counting.values()],
    otherSignatures: all.length - counting.size,
  }
}

/** One valid signature of each trusted key, by its name, in the order of `policy.trust.keys`. */
function bySigner(
  statement: string,
  signatures: readonly string[],
  trust: Trust,
): ReadonlyMap<string, string> {
  const found = new Map(
    signatures.flatMap((signature) => {
      const { trusted } = signersOf({ statement, signatures: [signature] }, 'live', trust)
      return trusted.map(({ name }) => [name, signature] as const)
    }),
  )
  return new Map(
    trust.keys.flatMap(({ name }) => {
      const signature = found.get(name)
      return signature === undefined ? [] : [[name, signature] as const]
    }),
  )
}

/** Gateways refuse what follows another statement than the active one. */
function isStale({ after }: Statement, { about }: Proposal, live: LiveState): boolean {
  if (!live.isAfterKnown) return about.over !== (live.head?.revision ?? null)
  return after?.serial !== live.after?.serial || after?.revision !== live.after?.revision
}
