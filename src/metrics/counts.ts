/** Counts by their labels. Counting costs a look-up for each label; the rest waits until it is read. */
export interface Counts {
  /** Counts one, with a value for each label. */
  readonly add: (...values: string[]) => void
  /** Each count that is not 0, with its labels by name. */
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

/** `names`: those of the labels, in the order in which their values are given. */
export function createCounts(names: readonly string[]): Counts {
  const root = createPlace({})
  const counted: Place[] = []

  return {
    add(...values) {
      let place = root
      for (let at = 0; at < names.length; at++) {
        const value = values[at] as string
        let next = place.next.get(value)
        if (next === undefined) {
          next = createPlace({ ...place.labels, [names[at] as string]: value })
          place.next.set(value, next)
        }
        place = next
      }
      if (place.value === 0) counted.push(place)
      place.value++
    },
    readings: () => counted,
  }
}

function createPlace(labels: Place['labels']): Place {
  return { value: 0, labels, next: new Map() }
}
