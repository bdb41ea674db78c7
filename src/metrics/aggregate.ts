import type { FigureSnapshot, SnapshotValue, WholeRule } from './snapshot.ts'

/** The figures of one process, and as which worker they are shown where each has its own. */
interface FiguresOf {
  readonly worker?: number | undefined
  readonly figures: readonly FigureSnapshot[]
}

interface Joined {
  readonly meta: Omit<FigureSnapshot, 'values'>
  readonly values: Map<string, SnapshotValue>
}

/**
 * One set of figures out of several. Counters and histograms are added up; gauges follow their
 * rule, and those without one get the label `worker`.
 */
export function joinFigures(sets: readonly FiguresOf[]): readonly FigureSnapshot[] {
  const all = new Map<string, Joined>()
  for (const { worker, figures } of sets) {
    for (const { values, ...meta } of figures) {
      const joined = all.get(meta.name) ?? { meta, values: new Map() }
      all.set(meta.name, joined)
      for (const value of values) add(joined, value, worker)
    }
  }
  return [...all.values()].map(({ meta, values }) => ({ ...meta, values: [...values.values()] }))
}

function add({ meta, values }: Joined, one: SnapshotValue, worker: number | undefined): void {
  // Before its first sample the delay of an event loop is no number, and travels as none.
  if (!Number.isFinite(one.value)) return
  const rule = ruleFor(meta, one)
  const own = rule === undefined && worker !== undefined
  const shown = own ? { ...one, labels: { ...one.labels, worker: String(worker) } } : one
  const key = JSON.stringify([one.metricName, Object.entries(shown.labels).sort()])
  const known = values.get(key)
  values.set(key, known === undefined ? shown : { ...known, value: join(rule, known, shown) })
}

function ruleFor({ type, whole }: Joined['meta'], one: SnapshotValue): WholeRule | undefined {
  if (type === 'gauge') return whole
  return isQuantile(type, one) ? 'max' : 'sum'
}

function join(rule: WholeRule | undefined, one: SnapshotValue, other: SnapshotValue): number {
  if (rule === 'max') return Math.max(one.value, other.value)
  if (rule === 'min') return Math.min(one.value, other.value)
  return rule === 'sum' ? one.value + other.value : other.value
}

/** What of these figures still counts when their process is gone: all that only ever grows. */
function lasting(figures: readonly FigureSnapshot[]): readonly FigureSnapshot[] {
  return figures
    .filter(({ type }) => type !== 'gauge')
    .map((figure) => ({
      ...figure,
      values: figure.values.filter((one) => !isQuantile(figure.type, one)),
    }))
}

function isQuantile(type: FigureSnapshot['type'], { labels }: SnapshotValue): boolean {
  return type === 'summary' && Object.hasOwn(labels, 'quantile')
}

/**
 * The figures of a changing set of workers. What a worker counted is kept when it ends, so that no
 * counter ever goes back; what it counted after it was last asked is lost with it.
 */
export function createWholeFigures() {
  const newest = new Map<number, readonly FigureSnapshot[]>()
  let kept: readonly FigureSnapshot[] = []

  return {
    /** The newest figures of a worker that runs; those not among them stay as they were. */
    take(worker: number, figures: readonly FigureSnapshot[]) {
      const names = new Set(figures.map(({ name }) => name))
      const others = newest.get(worker)?.filter(({ name }) => !names.has(name)) ?? []
      newest.set(worker, [...figures, ...others])
    },
    /** A worker has ended; the next one under its number begins at nought. */
    ended(worker: number) {
      const last = newest.get(worker)
      newest.delete(worker)
      if (last !== undefined) kept = joinFigures([{ figures: kept }, { figures: lasting(last) }])
    },
    /** All of it together, with the figures of the process that adds up. */
    joined: (own: readonly FigureSnapshot[]) =>
      joinFigures([
        { figures: own },
        { figures: kept },
        ...[...newest].map(([worker, figures]) => ({ worker, figures })),
      ]),
  }
}

export type WholeFigures = ReturnType<typeof createWholeFigures>
