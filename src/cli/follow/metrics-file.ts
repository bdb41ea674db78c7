import { renameSync, writeFileSync } from 'node:fs'
import { Fault } from '../../kernel/errors.ts'
import type { FollowState } from '../../stores/policies/follow/follower.ts'

/** Writes the metrics of a gateway that follows, under the same names. */
export function writeMetricsFile(file: string, state: FollowState): void {
  const { ok, failed } = state.reloads
  const lines = [
    '# TYPE postern_policy_follow_reloads_total counter',
    `postern_policy_follow_reloads_total{result="ok"} ${ok}`,
    `postern_policy_follow_reloads_total{result="failed"} ${failed}`,
    '# TYPE postern_policy_follow_last_reload_success gauge',
    `postern_policy_follow_last_reload_success ${state.stopped === undefined ? 1 : 0}`,
  ]
  if (state.checkedAt !== undefined) {
    const name = 'postern_policy_follow_checked_timestamp_seconds'
    lines.push(`# TYPE ${name} gauge`, `${name} ${Date.parse(state.checkedAt) / 1000}`)
  }
  try {
    // The collector must not read half a file.
    writeFileSync(`${file}.tmp`, `${lines.join('\n')}\n`)
    renameSync(`${file}.tmp`, file)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new Fault('policies', { reason: `--metrics: ${file} cannot be written (${code})` })
  }
}
