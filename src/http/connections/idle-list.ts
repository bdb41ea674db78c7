/** A place in a list; in one list at a time. */
interface IdlePlace<T> {
  readonly of: T
  before: IdlePlace<T> | undefined
  behind: IdlePlace<T> | undefined
}

export function createPlace<T>(of: T): IdlePlace<T> {
  return { of, before: undefined, behind: undefined }
}

/** What is idle, the longest idle first. Every request enters and leaves it, so both take no search. */
export class IdleList<T> {
  #first: IdlePlace<T> | undefined
  #last: IdlePlace<T> | undefined

  longest(): T | undefined {
    return this.#first?.of
  }

  add(place: IdlePlace<T>): void {
    place.before = this.#last
    if (this.#last === undefined) this.#first = place
    else this.#last.behind = place
    this.#last = place
  }

  /** Only for a place that is in the list. */
  remove(place: IdlePlace<T>): void {
    const { before, behind } = place
    if (before === undefined) this.#first = behind
    else before.behind = behind
    if (behind === undefined) this.#last = before
    else behind.before = before
    place.before = undefined
    place.behind = undefined
  }
}
