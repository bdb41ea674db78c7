/** Does the work for every item, sixteen at a time. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  async function take(): Promise<void> {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: 16 }, take))
}
