import { type Predecessor, parseStatement, type Signed } from '../../../signing/statement.ts'
import { isRejection, type Trust, verifySigned } from '../../../signing/trust.ts'
import type { Head, Move } from '../document/policy-keys.ts'
import type { ReplicaReport } from '../replicas/replicas.ts'

const maxAheadMs = 24 * 60 * 60 * 1000

/** What is live, as far as `policy.trust` lets a publisher believe Redis. */
export interface LiveState {
  /** The head in Redis: a publication replaces exactly this one. */
  readonly head: Head | undefined
  /** What gateways use, and a diff compares with: not the head, if `policy.trust` rejects it. */
  readonly revision: string | undefined
  /** Whether the head is signed; with `policy.trust`, by enough trusted keys. */
  readonly isSigned: boolean
  /** What the next statement follows; `null` when nothing was ever signed. */
  readonly after: Predecessor | null
  /** Whether `after` is a statement that was read and not only what gateways report. */
  readonly isAfterKnown: boolean
  /** Why gateways with `policy.trust` ignore the head, if so. */
  readonly problem?: string
}

/** Whether a serial is further ahead than the clocks of signers: it would exclude all that follow. */
export function isFarAhead(serial: number, now: number): boolean {
  return serial > now + maxAheadMs
}

/** The head that gateways follow: a publication must not undo what its author has not seen. */
export function activeHead({ head, revision }: LiveState): Head | undefined {
  if (revision === undefined || revision === head?.revision) return head
  return { revision, sequence: 0 }
}

/** The part of the policy store that knows. */
interface LiveStore {
  head(): Promise<Head | undefined>
  history(): Promise<readonly Move[]>
  replicas(): Promise<readonly ReplicaReport[]>
}

/** Reads what is live. `trust`: the keys of the configuration, if it has any. */
export async function readLiveState(
  store: LiveStore,
  trust: Trust | undefined,
  now: number,
): Promise<LiveState> {
  const head = await store.head()
  if (trust === undefined) {
    const after = claimedBy(head, now)
    const isSigned = head?.signed !== undefined
    return { head, revision: head?.revision, isSigned, after, isAfterKnown: after !== null }
  }

  const found = verify(head, trust)
  const known = typeof found === 'string' ? undefined : found
  // Whoever can write to Redis can replace or delete the head; gateways keep to the last signed one.
  const later = await lastSigned(store, trust, known?.serial ?? 0)
  if (known !== undefined && later === undefined) {
    return { head, revision: known.revision, isSigned: true, after: known, isAfterKnown: true }
  }
  const why = typeof found === 'string' ? found : `signed before ${later?.revision}`
  return {
    head,
    revision: later?.revision ?? head?.revision,
    isSigned: false,
    after: later ?? (await reported(store, now)),
    isAfterKnown: later !== undefined,
    ...(head !== undefined && { problem: `${head.revision}: ${why}` }),
  }
}

/** The statement that a head or a move carries, or why `policy.trust` rejects it. */
function verify(
  place: { readonly revision: string; readonly signed?: Signed } | undefined,
  trust: Trust,
): Predecessor | string {
  const verified = verifySigned(place?.signed, 'live', trust)
  if (isRejection(verified)) return verified.message
  const { revision, serial } = verified.statement
  return revision === place?.revision ? { revision, serial } : `signed for ${revision}`
}

/** The last verified statement of the history with a higher serial than this. */
async function lastSigned(
  store: LiveStore,
  trust: Trust,
  serial: number,
): Promise<Predecessor | undefined> {
  const moves = await store.history()
  const serialOf = ({ signed }: Move) => parseStatement(signed?.statement ?? '')?.serial ?? 0
  return moves
    .map((move) => ({ move, serial: serialOf(move) }))
    .filter((each) => each.serial > serial)
    .sort((a, b) => b.serial - a.serial)
    .map(({ move }) => verify(move, trust))
    .find((each) => typeof each !== 'string')
}

/**
 * After Redis lost its data, the gateways still know what was signed, and report its revision. Their
 * serial is below the time: a statement that follows any earlier one replaces it.
 */
async function reported(store: LiveStore, now: number): Promise<Predecessor | null> {
  const replicas = await store.replicas()
  const [newest] = replicas
    .filter(({ revision }) => revision !== undefined)
    .sort((a, b) => (b.sequence ?? 0) - (a.sequence ?? 0))
  return newest?.revision === undefined ? null : { revision: newest.revision, serial: now - 1 }
}

/** Without `policy.trust`, what the head claims. */
function claimedBy(head: Head | undefined, now: number): Predecessor | null {
  const claimed = parseStatement(head?.signed?.statement ?? '')
  if (claimed === undefined || claimed.revision !== head?.revision) return null
  const { revision, serial } = claimed
  return isFarAhead(serial, now) ? null : { revision, serial }
}
