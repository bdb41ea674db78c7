/** What has been opened, to be closed in reverse: the last one may still lean on the first. */
export interface Closing {
  add(close: () => Promise<unknown>): void
  /** Closes everything once; a second call waits for the first. */
  close(): Promise<void>
}

export function createClosing(): Closing {
  const opened: (() => Promise<unknown>)[] = []
  let closing: Promise<void> | undefined

  async function closeAll(): Promise<void> {
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close()
  }

  return {
    add: (close) => void opened.push(close),
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}
