import { setTimeout as pause } from 'node:timers/promises'
import { type LoadOptions, startLoad } from './load.ts'
import { type Reading, readingOf } from './measure.ts'
import { treeOf } from './processes.ts'
import type { Upstream } from './upstream.ts'

/** One side of a ratio: who is loaded, with what, and which share of that reaches the upstream. */
export interface Side extends Omit<LoadOptions, 'seconds'> {
  readonly pid: number
  readonly passes: number
}

/** CPU time per request of both sides, in microseconds, from windows that follow each other. */
export interface Pair {
  readonly of: number
  readonly to: number
}

export interface PairOptions {
  readonly upstream: Upstream
  readonly pairs: number
  readonly windowMs: number
}

/** After a pause, until requests flow as they did. */
const leadMs = 60
/** In which nothing reaches the upstream once a side has answered what it had under way. */
const quietMs = 25
/** Longer than any run; it is ended, not waited for. */
const loadSeconds = 3600

/**
 * Loads two sides by turns, for fractions of a second: both loads are open all the time, and the one
 * whose turn it is not is stopped as a process. So both sides get the same share of the moments without
 * other load on the machine. Every other pair runs in reverse order.
 */
export async function measurePairs(
  sides: readonly [Side, Side],
  options: PairOptions,
): Promise<readonly Pair[]> {
  const pairs: Pair[] = []
  const loads: Turn[] = []
  try {
    for (const side of sides) loads.push(await openSide(side, options))
    const [one, other] = loads as [Turn, Turn]
    for (let at = 0; at < options.pairs; at++) {
      // Written in this order, they are taken in it.
      if (at % 2 === 0) pairs.push({ of: await one.take(), to: await other.take() })
      else pairs.push({ to: await other.take(), of: await one.take() })
    }
  } finally {
    for (const load of loads) load.end()
  }
  return pairs
}

interface Turn {
  readonly take: () => Promise<number>
  readonly end: () => void
}

/** A load that is open and stopped. */
async function openSide(side: Side, { upstream, windowMs }: PairOptions): Promise<Turn> {
  const pids = treeOf(side.pid)
  const load = await startLoad({ ...side, seconds: loadSeconds })
  // Its connections are made, and the memory that was given away while idle is taken back.
  await pause(1000)
  load.stop()
  await untilNothingComes(upstream)

  return {
    async take() {
      load.goOn()
      await pause(leadMs)
      const from = await readingOf(pids, upstream)
      await pause(windowMs)
      const to = await readingOf(pids, upstream)
      load.stop()
      await untilNothingComes(upstream)
      return cpuMicros(from, to, side.passes)
    },
    end: load.end,
  }
}

function cpuMicros(from: Reading, to: Reading, passes: number): number {
  const answered = (to.passed - from.passed) / passes
  // One of them is our own question.
  if (answered < 2) throw new Error('no request reached the upstream')
  return ((to.cpuSeconds - from.cpuSeconds) * 1e6) / answered
}

async function untilNothingComes(upstream: Upstream): Promise<void> {
  let before = await upstream.requests()
  for (let turn = 0; turn < 200; turn++) {
    await pause(quietMs)
    const now = await upstream.requests()
    // Our own question is one.
    if (now - before <= 1) return
    before = now
  }
}
