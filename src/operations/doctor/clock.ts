import {
  type ClockOffset,
  certainOffset,
  clockOffset,
  offsetInWords,
} from '../../fleet/clock-offset.ts'
import type { Report } from './run-checks.ts'

/** What other clocks showed while they were asked. */
export type ClockSamples = ReturnType<typeof createClockSamples>

interface ClockSample {
  readonly source: string
  readonly theirs: number
  readonly askedAt: number
  readonly answeredAt: number
  readonly stepMs: number
}

export function createClockSamples() {
  const samples: (ClockOffset & { readonly source: string })[] = []
  return {
    /** `theirs`, `askedAt` and `answeredAt` in milliseconds since 1970; `stepMs`: their resolution. */
    add: ({ source, ...sample }: ClockSample) =>
      void samples.push({ source, ...clockOffset(sample) }),
    report(report: Report, acceptedSeconds: number) {
      if (samples.length === 0) return
      const off = (sample: ClockOffset) => Math.abs(certainOffset(sample))
      const worst = samples.reduce((a, b) => (off(b) > off(a) ? b : a))
      const words = offsetInWords(worst, worst.source)
      if (words === undefined) {
        // They answer in any order.
        const sources = samples.map(({ source }) => source).toSorted()
        report.ok(`agrees with ${sources.join(', ')}`)
        return
      }
      const message = `this machine is ${words}`
      const fix = 'synchronize both clocks, for example with chrony or "timedatectl set-ntp true"'
      if (off(worst) > acceptedSeconds * 1000) {
        report.problem(`${message}, more than jwt.clockSkewSeconds (${acceptedSeconds})`, fix)
      } else report.warning(message, fix)
    },
  }
}
