/** The counts of one series: how many fell into each bucket, and the sum of all. */
interface Series {
  readonly labels: Readonly<Record<string, string>>
  readonly counts: Float64Array
  sum: number
}

interface QuickHistogramParts {
  readonly name: string
  readonly help: string
  /** At most one label, with values from a closed list. */
  readonly label?: string | undefined
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
}

/**
 * A histogram for the request path. It adds to plain arrays and takes the library's form at scrape
 * time only: observing with the library's own histogram is many times as expensive.
 */
export function createQuickHistogram(parts: QuickHistogramParts) {
  const { name, help, label, buckets } = parts
  const all = new Map<string, Series>()
  let last: Series | undefined
  let lastKey: string | undefined

  function find(key: string): Series {
    const known = all.get(key)
    if (known !== undefined) return known
    const labels = label === undefined ? {} : { [label]: key }
    const made = { labels, counts: new Float64Array(buckets.length + 1), sum: 0 }
    all.set(key, made)
    return made
  }

  // Without a label the one series exists from the start.
  if (label === undefined) find('')
  return {
    observe(value: number, key = '') {
      if (key !== lastKey || last === undefined) {
        last = find(key)
        lastKey = key
      }
      let at = 0
      while (at < buckets.length && value > (buckets[at] as number)) at++
      last.counts[at] = (last.counts[at] as number) + 1
      last.sum += value
    },
    get: async () => ({
      name,
      help,
      type: 'histogram' as const,
      aggregator: 'sum' as const,
      values: [...all.values()].flatMap((series) => readings(name, buckets, series)),
    }),
  }
}

/** Prometheus buckets are cumulative. */
function readings(name: string, buckets: readonly number[], { labels, counts, sum }: Series) {
  let count = 0
  const rising = [...counts].map((own, at) => {
    count += own
    return {
      metricName: `${name}_bucket`,
      labels: { le: buckets[at] ?? '+Inf', ...labels },
      value: count,
    }
  })
  return [
    ...rising,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
