/** Counts by label values. Counting is one lookup per label; everything else happens at scrape time. */
interface Counts {
  /** Counts one, with a value for each label. */
  readonly add: (...values: string[]) => void
  /** Each count with its labels by name. */
  readonly readings: () => readonly Count[]
}

interface Count {
  readonly value: number
  readonly labels: Readonly<Record<string, string>>
}

interface Node {
  value: number
  readonly labels: Readonly<Record<string, string>>
  readonly next: Map<string, Node>
}

/**
 * `names`: label names, in the order of the values. `fromZero`: values shown at 0 before the first
 * event, because Prometheus sees no increase in a series that first appears as 1.
 */
export function createCounts(
  names: readonly string[],
  fromZero: readonly (readonly string[])[] = [],
): Counts {
  const root = createNode({})
  const counted: Node[] = names.length === 0 ? [root] : []

  function find(values: readonly string[]): Node {
    let node = root
    for (let at = 0; at < names.length; at++) {
      const value = values[at] as string
      let next = node.next.get(value)
      if (next === undefined) {
        next = createNode({ ...node.labels, [names[at] as string]: value })
        node.next.set(value, next)
        if (at === names.length - 1) counted.push(next)
      }
      node = next
    }
    return node
  }
  for (const values of fromZero) find(values)

  return {
    add(...values) {
      find(values).value++
    },
    readings: () => counted,
  }
}

function createNode(labels: Node['labels']): Node {
  return { value: 0, labels, next: new Map() }
}
