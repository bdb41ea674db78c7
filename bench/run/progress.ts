import type { Sample } from './measure.ts'

export interface Progress {
  tell(what: string, outcome: Sample | Error, remark?: string): void
  /** One figure fewer to come. */
  skip(): void
}

/** Tells on stderr what a run is at, and how long it will take; `steps` is how many figures come. */
export function createProgress(steps: number): Progress {
  const start = Date.now()
  let left = steps
  let taken = 0
  return {
    tell(what, outcome, remark = '') {
      left--
      taken++
      const rest = Math.ceil((((Date.now() - start) / taken) * left) / 60_000)
      const share = `${Math.round((1 - left / steps) * 100)} %`.padStart(5)
      const text =
        outcome instanceof Error
          ? `FAILED: ${outcome.message}`
          : `${outcome.cpuMicros.toFixed(1)} µs CPU, ${Math.round(outcome.perSecond)} a second`
      console.error(`${share}, ${rest} min left  ${what}: ${text}${remark}`)
    },
    skip() {
      left--
    },
  }
}
