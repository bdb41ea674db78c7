/** How far the clock of this machine is ahead of another one, as far as one question can tell. */
export interface ClockOffset {
  /** The middle of what is possible; negative: behind. */
  readonly aheadMs: number
  /** How far the true value may be from it. */
  readonly withinMs: number
}

/** The offset that a gateway reports. */
export interface ClockFacts extends ClockOffset {
  readonly source: 'Redis' | 'the database'
}

/** Lock-outs, revocations and captchas of several gateways are dated by their own clocks. */
const noticeableMs = 5000

interface Sample {
  /** Milliseconds since 1970, as the other three. */
  readonly theirs: number
  readonly askedAt: number
  readonly answeredAt: number
  /** The resolution of their clock, which may have been rounded down. */
  readonly stepMs?: number
}

/** Their time was read at some moment between question and answer. */
export function clockOffset({ theirs, askedAt, answeredAt, stepMs = 0 }: Sample): ClockOffset {
  const [least, most] = [askedAt - theirs - stepMs, answeredAt - theirs]
  return { aheadMs: (least + most) / 2, withinMs: (most - least) / 2 }
}

/** The part of an offset that no slow answer explains: milliseconds ahead; negative: behind. */
export function certainOffset({ aheadMs, withinMs }: ClockOffset): number {
  return Math.sign(aheadMs) * Math.max(0, Math.abs(aheadMs) - withinMs)
}

/** `7200.0 s ahead of Redis`; `undefined` for an offset too small to matter. */
export function offsetInWords(offset: ClockOffset, source: string): string | undefined {
  const aheadMs = certainOffset(offset)
  if (Math.abs(aheadMs) < noticeableMs) return undefined
  const how = aheadMs > 0 ? 'ahead of' : 'behind'
  return `${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${how} ${source}`
}

/** One line about a gateway whose clock is wrong; empty for every other. */
export function clockWarning(id: string, clock: ClockFacts | undefined): string {
  const words = clock && offsetInWords(clock, clock.source)
  if (clock === undefined || words === undefined) return ''
  return `warning: the clock of ${id} is ${words}, so it accepts and ends tokens and grants at the wrong time: synchronize the clocks of both machines (NTP)`
}
