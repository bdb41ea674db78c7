import { setTimeout as pause } from 'node:timers/promises'
import { type Finding, problem } from './finding.ts'

/** One thing to look at. It changes nothing. */
export interface Check {
  readonly name: string
  readonly run: () => Promise<readonly Finding[]>
}

/** Runs all of them at once. One that takes longer than its time is a problem of its own. */
export async function runChecks(
  checks: readonly Check[],
  timeoutMs: number,
): Promise<readonly Finding[]> {
  const found = await Promise.all(checks.map((check) => inTime(check, timeoutMs)))
  return found.flat()
}

async function inTime({ name, run }: Check, timeoutMs: number): Promise<readonly Finding[]> {
  const ended = new AbortController()
  const late = pause(timeoutMs, undefined, { signal: ended.signal }).then(
    () => [
      problem(
        name,
        `timeout: this check did not finish within ${timeoutMs / 1000} s`,
        'find out why it is slow (name server, network, disk), or give it more time with --timeout',
      ),
    ],
    () => [],
  )
  try {
    return await Promise.race([run(), late])
  } finally {
    ended.abort()
  }
}
