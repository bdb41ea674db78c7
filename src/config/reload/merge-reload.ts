import { isDeepStrictEqual } from 'node:util'
import { Invalid } from '../../errors.ts'
import { crossCheck } from '../checks/cross-checks.ts'
import { createReport } from '../reading/report.ts'
import type { Config } from '../schema/schema.ts'
import { joinPath } from '../schema/setting.ts'

interface Merged {
  readonly config: Config
  /** Settings that changed and keep their value until a restart, such as `application.port`. */
  readonly needRestart: readonly string[]
}

/**
 * The configuration after a reload: the reloadable settings of `next`, all others as they are. `next`
 * must be valid. Throws `Invalid` when its reloadable settings need others that only a restart applies.
 */
export function mergeReload(active: Config, next: Config, file: string): Merged {
  const { limits } = next
  const config: Config = {
    ...active,
    routes: next.routes,
    upstreams: next.upstreams,
    endpoints: next.endpoints,
    cors: next.cors,
    headers: next.headers,
    refusals: next.refusals,
    application: {
      ...active.application,
      trustedProxies: next.application.trustedProxies,
    },
    logger: { ...active.logger, level: next.logger.level },
    // The others belong to connections and to the parser, which outlive requests.
    limits: {
      ...active.limits,
      targetBytes: limits.targetBytes,
      bodyBytes: limits.bodyBytes,
      minBytesPerSecond: limits.minBytesPerSecond,
      minRateWindowMs: limits.minRateWindowMs,
      stallTimeoutMs: limits.stallTimeoutMs,
      busyStallTimeoutMs: limits.busyStallTimeoutMs,
    },
  }
  const needRestart = differences(config, next)
  if (needRestart.length > 0) refuseUnfit(config, needRestart, file)
  return { config, needRestart }
}

/** Each part is valid, but with the old value of another setting it may not be. */
function refuseUnfit(config: Config, needRestart: readonly string[], file: string): void {
  const report = createReport({ file })
  crossCheck(config, report)
  const problems = report.problems()
  if (problems.length === 0) return
  const restart = `restart to apply ${needRestart.join(', ')}`
  throw new Invalid(problems.map(({ message }) => ({ file, message: `${message} (${restart})` })))
}

/** The settings that differ, by name only: their values may be secret. */
function differences(one: unknown, other: unknown, path = ''): readonly string[] {
  if (isDeepStrictEqual(one, other)) return []
  if (!isSection(one) || !isSection(other)) return [path]
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].flatMap((key) => differences(one[key], other[key], joinPath(path, key)))
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
