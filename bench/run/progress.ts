export interface Progress {
  tell(what: string, outcome: string | Error): void
  /** One fewer to come. */
  skip(): void
}

/** Tells on stderr what a run is at, and how long it will take; `steps` is how much comes. */
export function createProgress(steps: number): Progress {
  const start = Date.now()
  let left = steps
  let taken = 0
  return {
    tell(what, outcome) {
      left--
      taken++
      const rest = Math.ceil((((Date.now() - start) / taken) * left) / 60_000)
      const share = `${Math.round((1 - left / steps) * 100)} %`.padStart(5)
      const text = outcome instanceof Error ? `FAILED: ${outcome.message}` : outcome
      console.error(`${share}, ${rest} min left  ${what}: ${text}`)
    },
    skip() {
      left--
    },
  }
}
