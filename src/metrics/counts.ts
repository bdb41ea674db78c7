/** Counts by their labels. Counting costs a look-up for each label; the rest waits until it is read. */
export interface Counts {
  /** Counts one. The same number of labels every time. */
  add(...labels: string[]): void
  each(tell: (labels: readonly string[], value: number) => void): void
}

interface Place {
  value: number
  readonly labels: readonly string[]
  readonly next: Map<string, Place>
}

export function createCounts(): Counts {
  const root = createPlace([])
  const counted: Place[] = []

  return {
    add(...labels) {
      let place = root
      for (let at = 0; at < labels.length; at++) {
        const label = labels[at] as string
        let next = place.next.get(label)
        if (next === undefined) {
          next = createPlace([...place.labels, label])
          place.next.set(label, next)
        }
        place = next
      }
      if (place.value === 0) counted.push(place)
      place.value++
    },
    each(tell) {
      for (const { labels, value } of counted) tell(labels, value)
    },
  }
}

function createPlace(labels: readonly string[]): Place {
  return { value: 0, labels, next: new Map() }
}
