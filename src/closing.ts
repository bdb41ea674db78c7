/** What has been opened, to be closed in reverse: the last one may still lean on the first. */
export interface Closing {
  add(close: () => Promise<unknown>): void
  /**
   * Closes everything once; a second call waits for the first. What cannot be closed does not keep
   * the rest open; the first such error is thrown at the end.
   */
  close(): Promise<void>
}

export function createClosing(): Closing {
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
    add: (close) => void opened.push(close),
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

/** The last part of the time that ending may take: requests are over by then, stores are flushed. */
export function flushMs(deadlineMs: number): number {
  return Math.min(3000, deadlineMs / 4)
}
