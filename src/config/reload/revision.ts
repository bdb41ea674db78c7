import { createHash } from 'node:crypto'
import type { Config } from '../schema/schema.ts'
import { patternEntries, rootSetting, type Setting, settingFor } from '../schema/setting.ts'

/** Identifies a configuration by its content: file, environment and defaults together, no secrets. */
export function configRevision(config: Config): string {
  const text = JSON.stringify(publicPart(rootSetting, config))
  return `c-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
}

/** The names of a section are sorted: the order in which settings are written means nothing. */
function publicPart(given: Setting, value: unknown): unknown {
  const setting = settingFor(given, value)
  // A digest of a weak secret could be guessed.
  if (given.writeOnly || setting.writeOnly) return undefined
  if (Array.isArray(value)) return value.map((item) => publicPart(setting.items ?? {}, item))
  if (typeof value !== 'object' || value === null) return value
  const ofEach = patternEntries(setting)?.schema
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, publicPart(setting.properties?.[key] ?? ofEach ?? {}, child)]),
  )
}
