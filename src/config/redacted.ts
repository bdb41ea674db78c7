import { MASK } from './checks/secret-strength.ts'
import type { Config } from './schema/schema.ts'
import { freeEntries, namedSettings, rootSetting, type Setting } from './schema/setting.ts'

/** The configuration as it may be shown to people, in the order of the schema: no secret is left. */
export function redacted(config: Config): unknown {
  return shown(rootSetting, config)
}

function shown(setting: Setting, value: unknown): unknown {
  if (setting.writeOnly) return MASK
  if (Array.isArray(value)) return value.map((item) => shown(setting.items ?? {}, item))
  if (typeof value !== 'object' || value === null) return value

  const given = new Map<string, unknown>(Object.entries(value))
  const free = freeEntries(setting)
  const known = free
    ? [...given.keys()].map((key) => [key, free.each] as const)
    : namedSettings(setting)
  return Object.fromEntries(
    known.flatMap(([key, child]) => (given.has(key) ? [[key, shown(child, given.get(key))]] : [])),
  )
}
