/** The value of a metric of a running gateway: the sum over its labels. */
export async function metricOf(opsPort: number, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
  const values = text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)))
  if (values.length === 0) throw new Error(`no metric is named ${name}`)
  return values.reduce((sum, value) => sum + value, 0)
}

export interface MemoryWatch {
  /** The most it had at any time, in bytes. */
  peak(): number
  stop(): Promise<void>
}

/** Looks at the resident memory of a gateway process again and again. */
export function watchMemory(opsPort: number, everyMs = 100): MemoryWatch {
  let peak = 0
  let stopped = false
  const watching = watch()

  async function watch(): Promise<void> {
    while (!stopped) {
      peak = Math.max(peak, await metricOf(opsPort, 'process_resident_memory_bytes'))
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }

  return {
    peak: () => peak,
    async stop() {
      stopped = true
      await watching
    },
  }
}
