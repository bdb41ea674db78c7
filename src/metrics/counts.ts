/** Counts by their labels. Counting costs a look-up for each label; the rest waits until it is read. */
interface Counts {
  /** Counts one, with a value for each label. */
  readonly add: (...values: string[]) => void
  /** Each count that has begun, with its labels by name. */
  readonly readings: () => readonly Count[]
}

interface Count {
  readonly value: number
  readonly labels: Readonly<Record<string, string>>
}

interface Place {
  value: number
  readonly labels: Readonly<Record<string, string>>
  readonly next: Map<string, Place>
}

/**
 * `names`: those of the labels, in the order in which their values are given. `fromZero`: values
 * whose count is shown before the first one. Prometheus sees no increase in a count that first
 * appears as 1.
 */
export function createCounts(
  names: readonly string[],
  fromZero: readonly (readonly string[])[] = [],
): Counts {
  const root = createPlace({})
  const counted: Place[] = names.length === 0 ? [root] : []

  function find(values: readonly string[]): Place {
    let place = root
    for (let at = 0; at < names.length; at++) {
      const value = values[at] as string
      let next = place.next.get(value)
      if (next === undefined) {
        next = createPlace({ ...place.labels, [names[at] as string]: value })
        place.next.set(value, next)
        if (at === names.length - 1) counted.push(next)
      }
      place = next
    }
    return place
  }
  for (const values of fromZero) find(values)

  return {
    add(...values) {
      find(values).value++
    },
    readings: () => counted,
  }
}

function createPlace(labels: Place['labels']): Place {
  return { value: 0, labels, next: new Map() }
}
