import type { Sample } from './measure.ts'

/** Tells on stderr what a run is at, and how long it will take; `steps` is how many figures come. */
export function createProgress(steps: number): (what: string, outcome: Sample | Error) => void {
  const start = Date.now()
  let done = 0
  return (what, outcome) => {
    done++
    const left = ((Date.now() - start) / done) * (steps - done)
    const share = `${Math.round((done / steps) * 100)} %`.padStart(5)
    const rest = `${Math.ceil(left / 60_000)} min left`
    const text =
      outcome instanceof Error
        ? `FAILED: ${outcome.message}`
        : `${outcome.cpuMicros.toFixed(1)} µs CPU, ${Math.round(outcome.perSecond)} a second`
    console.error(`${share}, ${rest}  ${what}: ${text}`)
  }
}
