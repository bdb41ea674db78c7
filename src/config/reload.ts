import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { Invalid } from '../kernel/errors.ts'
import { isRecord } from '../kernel/json.ts'
import { crossCheck } from './checks/cross-checks.ts'
import { createReport } from './reading/report.ts'
import type { Config } from './schema/schema.ts'
import { joinPath, namedSettings, rootSetting, type Setting } from './schema/setting.ts'
import { replaceSecrets } from './secrets.ts'

/**
 * The configuration after a reload: the reloadable settings of `next`, all others as they are until a
 * restart, with the names of those that differ, such as `application.port`. `next` must be valid.
 * Throws `Invalid` when its reloadable settings need others that only a restart applies.
 */
export function mergeReload(active: Config, next: Config, file: string) {
  const config = merge(rootSetting, active, next) as Config
  const needRestart = differences(config, next)
  if (needRestart.length > 0) refuseUnfit(config, needRestart, file)
  return { config, needRestart }
}

/** What was active, with what reloads of the next value. Sections without such a setting stay as they are. */
function merge(setting: Setting, active: unknown, next: unknown): unknown {
  if (setting.reloads === true) return next
  if (!isRecord(active) || !isRecord(next)) return active
  const merged = namedSettings(setting).map(([key, child]) => {
    return [key, merge(child, active[key], next[key])] as const
  })
  const changed = merged.filter(([key, value]) => value !== active[key])
  return changed.length === 0 ? active : { ...active, ...Object.fromEntries(changed) }
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
  if (!isRecord(one) || !isRecord(other)) return [path]
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].flatMap((key) => differences(one[key], other[key], joinPath(path, key)))
}

/**
 * Identifies a configuration by its content: file, environment and defaults together. Without secrets: a
 * digest of a weak one could be guessed. Names are sorted: the order of settings means nothing.
 */
export function configRevision(config: Config): string {
  const publicPart = replaceSecrets(config, () => undefined)
  const text = JSON.stringify(publicPart, (_, value: unknown) => {
    if (!isRecord(value)) return value
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
  return `c-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
}
