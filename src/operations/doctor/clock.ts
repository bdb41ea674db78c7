import {
  type ClockOffset,
  certainOffset,
  clockOffset,
  offsetInWords,
} from '../../fleet/clock-offset.ts'
import type { Report } from './run-checks.ts'

export type ClockSamples = ReturnType<typeof createClockSamples>

/** What other clocks showed while they were asked. */
export function createClockSamples() {
  const samples: (ClockOffset & { readonly source: string })[] = []
  return {
    add({ source, ...sample }: Parameters<typeof clockOffset>[0] & { readonly source: string }) {
      samples.push({ source, ...clockOffset(sample) })
    },
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
