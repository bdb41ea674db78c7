import type { Sample } from './measure.ts'

/** Tells on stderr what a run is at. */
export interface Progress {
  cell(what: string, outcome: Sample | Error): void
  note(text: string): void
}

/** `steps` is how many figures there will be. */
export function createProgress(steps: number): Progress {
  const start = Date.now()
  let done = 0
  return {
    cell(what, outcome) {
      done++
      const left = ((Date.now() - start) / done) * (steps - done)
      const share = `${Math.round((done / steps) * 100)} %`.padStart(5)
      const rest = `${Math.ceil(left / 60_000)} min left`
      const text =
        outcome instanceof Error
          ? `FAILED: ${outcome.message}`
          : `${outcome.cpuMicros.toFixed(1)} µs CPU, ${Math.round(outcome.perSecond)} a second`
      console.error(`${share}, ${rest}  ${what}: ${text}`)
    },
    note: (text) => console.error(text),
  }
}
