import type { TrafficPoint } from './events.ts'

/** What a sample needs of each gateway. */
interface SampledReplica {
  readonly id: string
  readonly facts?:
    | { readonly startedAt: string; readonly outcomes: Readonly<Record<string, number>> }
    | undefined
}

interface SampledFleet {
  readonly revision: string | null
  readonly counts: Readonly<Record<string, number>>
  readonly replicas: readonly SampledReplica[]
}

interface TrafficParts {
  readonly readFleet: () => Promise<SampledFleet>
  readonly now?: () => number
}

export const stepMs = 10_000
/** An hour. */
const mostPoints = 360

/**
 * Requests of all gateways, step by step, from the totals that they report. Kept in memory while the
 * console runs: for longer times there is Prometheus.
 */
export class Traffic {
  readonly #parts: TrafficParts
  readonly #points: TrafficPoint[] = []
  readonly #listeners = new Set<(point: TrafficPoint) => void>()
  #totals: ReadonlyMap<string, SampledReplica['facts']> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(parts: TrafficParts) {
    this.#parts = parts
  }

  start(): void {
    void this.sample()
    this.#timer = setInterval(() => void this.sample(), stepMs)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  points(): readonly TrafficPoint[] {
    return this.#points
  }

  follow(listener: (point: TrafficPoint) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Adds one point. The first sample has nothing to compare with and adds none. */
  async sample(): Promise<void> {
    const { readFleet, now = Date.now } = this.#parts
    const fleet = await readFleet().catch(() => undefined)
    const at = now()
    if (fleet === undefined) {
      if (this.#totals !== undefined) this.#add({ at })
      return
    }
    const before = this.#totals
    const totals = new Map(fleet.replicas.map(({ id, facts }) => [id, facts]))
    // A replica that is missing for a moment must not count from zero when it is back.
    this.#totals = new Map([...(before ?? []), ...totals].slice(-mostKnown))
    if (before === undefined) return
    const { revision, counts } = fleet
    this.#add({ at, outcomes: growth(before, totals), revision, counts })
  }

  #add(point: TrafficPoint): void {
    this.#points.push(point)
    if (this.#points.length > mostPoints) this.#points.shift()
    for (const listener of this.#listeners) listener(point)
  }
}

/** Replicas whose totals are kept. */
const mostKnown = 20_000

type Totals = ReadonlyMap<string, SampledReplica['facts']>

/** A gateway that is new or has started again counts from zero. */
function growth(before: Totals, after: Totals): Readonly<Record<string, number>> {
  const sums = new Map<string, number>()
  for (const [id, facts] of after) {
    if (facts === undefined) continue
    const known = before.get(id)
    const base = known?.startedAt === facts.startedAt ? known.outcomes : {}
    for (const [outcome, total] of Object.entries(facts.outcomes)) {
      const grown = total - (base[outcome] ?? 0)
      if (grown > 0) sums.set(outcome, (sums.get(outcome) ?? 0) + grown)
    }
  }
  return Object.fromEntries(sums)
}
