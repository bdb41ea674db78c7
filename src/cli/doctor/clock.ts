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

/** Lock-outs, revocations and captchas of several gateways are dated by their own clocks. */
const noticeableMs = 5000

export function createClockSamples(): ClockSamples {
  const samples: { readonly source: string; readonly aheadMs: number }[] = []
  return {
    add({ source, theirs, askedAt, answeredAt, stepMs }) {
      // Their time was read at some moment in between, and may have been rounded down.
      const [least, most] = [askedAt - theirs - stepMs, answeredAt - theirs]
      const aheadMs = least > 0 ? least : most < 0 ? most : 0
      samples.push({ source, aheadMs })
    },
    finding(acceptedSeconds) {
      if (samples.length === 0) return undefined
      const worst = samples.reduce((a, b) => (Math.abs(b.aheadMs) > Math.abs(a.aheadMs) ? b : a))
      const offMs = Math.abs(worst.aheadMs)
      if (offMs < noticeableMs) {
        // They answer in any order.
        const sources = samples.map(({ source }) => source).toSorted()
        return ok('clock', `agrees with ${sources.join(', ')}`)
      }
      const how = worst.aheadMs > 0 ? 'ahead of' : 'behind'
      const message = `this machine is ${(offMs / 1000).toFixed(1)} s ${how} ${worst.source}`
      const fix = 'synchronize both clocks, for example with chrony or "timedatectl set-ntp true"'
      return offMs > acceptedSeconds * 1000
        ? problem('clock', `${message}, more than jwt.clockSkewSeconds (${acceptedSeconds})`, fix)
        : warning('clock', message, fix)
    },
  }
}
