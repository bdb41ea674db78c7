/** Closes parts in reverse order: a later one may still need an earlier one. */
export type Closing = ReturnType<typeof createClosing>

export function createClosing() {
  const opened: (() => Promise<unknown>)[] = []
  let closing: Promise<void> | undefined

  async function closeAll(): Promise<void> {
    const errors: unknown[] = []
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
      await close().catch((error) => errors.push(error))
    }
    if (errors.length > 0) throw errors[0]
  }

  return {
    add: (close: () => Promise<unknown>) => void opened.push(close),
    /**
     * Closes everything once; a second call waits for the first. A part that fails to close does not keep
     * the others open; the first error is thrown at the end.
     */
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

/** Opens parts, each of which adds how it closes. One that fails closes all that were opened before it. */
export async function openParts<T>(open: (closing: Closing) => Promise<T>): Promise<T> {
  const closing = createClosing()
  try {
    return await open(closing)
  } catch (error) {
    await closing.close()
    throw error
  }
}

/** The last part of a shutdown: requests have finished, stores are flushed. */
export function flushMs(deadlineMs: number): number {
  return Math.min(3000, deadlineMs / 4)
}
