/** A node of a doubly linked list; in one list at a time. */
interface IdleNode<T> {
  readonly of: T
  before: IdleNode<T> | undefined
  behind: IdleNode<T> | undefined
}

export function createIdleNode<T>(of: T): IdleNode<T> {
  return { of, before: undefined, behind: undefined }
}

/** Idle connections, the longest idle first. Linked, since every request adds and removes one. */
export class IdleList<T> {
  #first: IdleNode<T> | undefined
  #last: IdleNode<T> | undefined

  longest(): T | undefined {
    return this.#first?.of
  }

  add(node: IdleNode<T>): void {
    node.before = this.#last
    if (this.#last === undefined) this.#first = node
    else this.#last.behind = node
    this.#last = node
  }

  /** The node must be in the list. */
  remove(node: IdleNode<T>): void {
    const { before, behind } = node
    if (before === undefined) this.#first = behind
    else before.behind = behind
    if (behind === undefined) this.#last = before
    else behind.before = before
    node.before = undefined
    node.behind = undefined
  }
}
