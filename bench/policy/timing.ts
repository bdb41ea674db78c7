/** What one operation takes, over many batches. */
export interface Timing {
  readonly medianNs: number
  readonly p99Ns: number
}

/** Times `each` on all items, in batches, again and again for at least as long as asked. */
export function time<T>(
  items: readonly T[],
  each: (item: T) => unknown,
  { batch, forMs }: { readonly batch: number; readonly forMs: number },
): Timing {
  const perItem: number[] = []
  const runBatch = (start: number) => {
    let last: unknown
    for (let index = start; index < start + batch; index++) last = each(items[index] as T)
    return last
  }
  // The compiler of the engine gets its chance first.
  const warm = performance.now() + forMs / 4
  for (let start = 0; performance.now() < warm; start = next(start)) runBatch(start)

  const end = performance.now() + forMs
  for (let start = 0; performance.now() < end; start = next(start)) {
    const begun = performance.now()
    runBatch(start)
    perItem.push(((performance.now() - begun) * 1e6) / batch)
  }
  perItem.sort((a, b) => a - b)
  const at = (part: number) => Math.round(perItem[Math.floor(perItem.length * part)] ?? 0)
  return { medianNs: at(0.5), p99Ns: at(0.99) }

  function next(start: number): number {
    return start + 2 * batch > items.length ? 0 : start + batch
  }
}
