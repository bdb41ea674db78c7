import {
  type ClockOffset,
  certainOffset,
  clockOffset,
  offsetInWords,
} from '../../fleet/clock-offset.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

/** What other clocks showed while they were asked. */
export interface ClockSamples {
  /** `theirs`, `askedAt` and `answeredAt` in milliseconds since 1970; `stepMs`: their resolution. */
  add(sample: ClockSample): void
  finding(acceptedSeconds: number): Finding | undefined
}

interface ClockSample {
  readonly source: string
  readonly theirs: number
  readonly askedAt: number
  readonly answeredAt: number
  readonly stepMs: number
}

export function createClockSamples(): ClockSamples {
  const samples: (ClockOffset & { readonly source: string })[] = []
  return {
    add: ({ source, ...sample }) => void samples.push({ source, ...clockOffset(sample) }),
    finding(acceptedSeconds) {
      if (samples.length === 0) return undefined
      const off = (sample: ClockOffset) => Math.abs(certainOffset(sample))
      const worst = samples.reduce((a, b) => (off(b) > off(a) ? b : a))
      const words = offsetInWords(worst, worst.source)
      if (words === undefined) {
        // They answer in any order.
        const sources = samples.map(({ source }) => source).toSorted()
        return ok('clock', `agrees with ${sources.join(', ')}`)
      }
      const message = `this machine is ${words}`
      const fix = 'synchronize both clocks, for example with chrony or "timedatectl set-ntp true"'
      return off(worst) > acceptedSeconds * 1000
        ? problem('clock', `${message}, more than jwt.clockSkewSeconds (${acceptedSeconds})`, fix)
        : warning('clock', message, fix)
    },
  }
}
