const ends = new Set<() => void>()

/**
 * Has something ended when this process ends for whatever reason but a SIGKILL. Returns how to take
 * that back. One listener for all: Node warns of more than ten.
 */
export function atExit(end: () => void): () => void {
  if (ends.size === 0) process.prependOnceListener('exit', endAll)
  ends.add(end)
  return () => {
    ends.delete(end)
    if (ends.size === 0) process.off('exit', endAll)
  }
}

function endAll(): void {
  for (const end of ends) end()
}
