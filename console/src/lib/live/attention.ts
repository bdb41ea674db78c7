import type { Fleet, Replica } from '#client'

export type AttentionKind =
  | 'unpublished'
  | 'no-replicas'
  | 'lost'
  | 'stale'
  | 'behind'
  | 'not-ready'
  | 'configuration-rejected'
  | 'keys-rejected'
  | 'certificate-rejected'
  | 'no-signer'
  | 'certificate-expired'
  | 'certificate-expires'
  | 'targets-out'
  | 'clock-offset'
  | 'versions'

/** Something about the fleet that an operator should look at. */
export interface Attention {
  readonly kind: AttentionKind
  readonly isError: boolean
  /** The replicas that it is about. */
  readonly replicas: readonly string[]
}

const dayMs = 86_400_000
/** Certificates are renewed at 30 days and less: then it is worth a look. */
export const expiryDays = 21

const errors: ReadonlySet<AttentionKind> = new Set<AttentionKind>([
  ...(['unpublished', 'no-replicas', 'lost', 'not-ready'] as const),
  ...(['no-signer', 'certificate-expired'] as const),
])

/** What needs attention, errors first. */
export function attentionOf(fleet: Fleet, now: number): readonly Attention[] {
  const found: Attention[] = []
  const add = (kind: AttentionKind, replicas: readonly Replica[]) =>
    found.push({ kind, isError: errors.has(kind), replicas: replicas.map(({ id }) => id) })
  // What a lost replica said last is not news.
  const present = fleet.replicas.filter(({ state }) => state !== 'lost')
  const where = (kind: AttentionKind, holds: (replica: Replica) => boolean) => {
    const those = present.filter(holds)
    if (those.length > 0) add(kind, those)
  }

  if (fleet.revision === null) add('unpublished', [])
  if (present.length === 0) add('no-replicas', [])
  for (const state of ['lost', 'stale', 'behind'] satisfies readonly Replica['state'][]) {
    const those = fleet.replicas.filter((each) => each.state === state)
    if (those.length > 0) add(state, those)
  }
  where('not-ready', ({ facts }) => facts?.ready === false)
  where('configuration-rejected', ({ facts }) => facts?.configuration?.rejected === true)
  where('keys-rejected', ({ facts }) => facts?.keys.rejected === true)
  where('certificate-rejected', ({ facts }) => facts?.certificate?.rejected === true)
  where('no-signer', ({ facts }) => facts?.keys.signer === null)
  where('certificate-expired', (replica) => (daysLeft(replica, now) ?? 1) <= 0)
  where('certificate-expires', (replica) => {
    const days = daysLeft(replica, now)
    return days !== undefined && days > 0 && days <= expiryDays
  })
  where('clock-offset', (replica) => clockOffset(replica) !== undefined)
  where('targets-out', ({ facts }) => (facts?.upstreams.out ?? 0) > 0)
  if (new Set(present.map(({ version }) => version)).size > 1) add('versions', present)
  return found.toSorted((one, other) => Number(other.isError) - Number(one.isError))
}

/** Until the certificate of a replica expires. */
export function daysLeft({ facts }: Replica, now: number): number | undefined {
  const { notAfter } = facts?.certificate ?? {}
  return notAfter === undefined ? undefined : (Date.parse(notAfter) - now) / dayMs
}

/** The certificate that expires first. */
export function firstToExpire(replicas: readonly Replica[]): Replica | undefined {
  const until = ({ facts }: Replica) => Date.parse(facts?.certificate?.notAfter ?? '')
  return replicas
    .filter((each) => each.facts?.certificate !== undefined)
    .toSorted((one, other) => until(one) - until(other))[0]
}

/** The seconds that its clock is ahead for certain; `undefined` below the 5 seconds of `postern fleet`. */
export function clockOffset({ facts }: Replica): number | undefined {
  const { aheadMs = 0, withinMs = 0 } = facts?.clock ?? {}
  const seconds = (Math.abs(aheadMs) - withinMs) / 1000
  return seconds < 5 ? undefined : Math.sign(aheadMs) * seconds
}
