/** A value, and those of its labels in the order of their names. */
export type Sample = readonly [value: number, ...labels: string[]]

interface Node {
  value: number
  readonly labels: readonly string[]
  readonly next: Map<string, Node>
}

/**
 * Counts by label values. Counting is one lookup per label; everything else happens at scrape time.
 * `labels`: how many values each count has. `fromZero`: values shown at 0 before the first event,
 * because Prometheus sees no increase in a series that first appears as 1.
 */
export function createCounts(labels: number, fromZero: readonly (readonly string[])[] = []) {
  const root: Node = { value: 0, labels: [], next: new Map() }
  const counted: Node[] = labels === 0 ? [root] : []

  function find(values: readonly string[]): Node {
    let node = root
    for (let at = 0; at < labels; at++) {
      const value = values[at] as string
      let next = node.next.get(value)
      if (next === undefined) {
        next = { value: 0, labels: [...node.labels, value], next: new Map() }
        node.next.set(value, next)
        if (at === labels - 1) counted.push(next)
      }
      node = next
    }
    return node
  }
  for (const values of fromZero) find(values)

  return {
    /** Counts one, with a value for each label. */
    add(...values: string[]) {
      find(values).value++
    },
    samples: (): readonly Sample[] => counted.map(({ value, labels }) => [value, ...labels]),
  }
}
