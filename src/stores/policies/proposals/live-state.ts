import { type Predecessor, parseStatement, type Signed } from '../../../signing/statement.ts'
import {
  type FindSigned,
  findAmong,
  isRejection,
  staleness,
  type Trust,
  verifySigned,
} from '../../../signing/trust.ts'
import type { Head, Move } from '../document/policy-keys.ts'
import type { SignedReport } from '../replicas/replicas.ts'

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
  /** Whether enough trusted keys signed `after`; without `policy.trust`, whether there is one. */
  readonly isAfterKnown: boolean
  /** Finds what trusted keys signed, in Redis, the database and the reports of gateways. */
  readonly find: FindSigned
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
  reported(): Promise<readonly SignedReport[]>
}

interface LiveParts {
  /** The keys of the configuration, if it has any. */
  readonly trust: Trust | undefined
  readonly now: number
  /** The history that the database has: who can write to Redis can delete it there. */
  readonly recorded?: readonly Move[]
}

/** Reads what is live. */
export async function readLiveState(
  store: LiveStore,
  { trust, now, recorded = [] }: LiveParts,
): Promise<LiveState> {
  const head = await store.head()
  if (trust === undefined) {
    const after = claimedBy([head], now)
    const isSigned = head?.signed !== undefined
    const find = () => undefined
    return { head, revision: head?.revision, isSigned, after, isAfterKnown: after !== null, find }
  }

  const places = [head, ...(await store.history()), ...recorded, ...(await store.reported())]
  const find = findAmong(
    places.map((place) => place?.signed),
    trust,
  )
  const found = verify(head, trust)
  const known = typeof found === 'string' ? undefined : found
  // Every client with write access to Redis can replace or delete the head; gateways keep the last signed one.
  const later = lastSigned(places, known, { trust, find })
  if (known !== undefined && later === undefined) {
    const { revision } = known
    return { head, revision, isSigned: true, after: known, isAfterKnown: true, find }
  }
  const why = typeof found === 'string' ? found : `signed before ${later?.revision}`
  return {
    head,
    revision: later?.revision ?? head?.revision,
    isSigned: false,
    after: later ?? claimedBy(places, now),
    isAfterKnown: later !== undefined,
    find,
    ...(head !== undefined && { problem: `${head.revision}: ${why}` }),
  }
}

/** A head, a move or a report. */
interface Place {
  readonly revision?: string | undefined
  readonly signed?: Signed
}

/** The statement that a place carries, or why `policy.trust` rejects it. */
function verify(place: Place | undefined, trust: Trust): Predecessor | string {
  const verified = verifySigned(place?.signed, 'live', trust)
  if (isRejection(verified)) return verified.message
  const { revision, serial } = verified.statement
  return revision === place?.revision ? { revision, serial } : `signed for ${revision}`
}

/**
 * The last verified statement, if it is not the known one. One that gateways refuse after the known one is
 * a proposal that lost, which someone copied to the history.
 */
function lastSigned(
  places: readonly (Place | undefined)[],
  known: Predecessor | undefined,
  { trust, find }: { readonly trust: Trust; readonly find: FindSigned },
): Predecessor | undefined {
  return places
    .flatMap((place) => {
      const statement = parseStatement(place?.signed?.statement ?? '')
      return statement === undefined ? [] : [{ place, statement }]
    })
    .filter(({ statement }) => {
      if (known === undefined || statement.after === null) {
        return statement.serial > (known?.serial ?? 0)
      }
      return staleness(statement, known, find)?.rejection !== 'replayed'
    })
    .sort((a, b) => b.statement.serial - a.statement.serial)
    .map(({ place }) => verify(place, trust))
    .find((each) => typeof each !== 'string')
}

/** The newest entry without a trusted signature: gateways compare with it, and people are warned. */
function claimedBy(places: readonly (Place | undefined)[], now: number): Predecessor | null {
  const claimed = places.flatMap((place) => {
    const statement = parseStatement(place?.signed?.statement ?? '')
    const isUsable = statement?.purpose === 'live' && statement.revision === place?.revision
    return isUsable && !isFarAhead(statement.serial, now) ? [statement] : []
  })
  const [newest] = claimed.sort((a, b) => b.serial - a.serial)
  return newest === undefined ? null : { revision: newest.revision, serial: newest.serial }
}
