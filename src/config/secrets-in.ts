import type { Config } from './schema/schema.ts'
import { freeEntries, namedSettings, rootSetting, type Setting } from './schema/setting.ts'

/** Every secret of a configuration, for what must not show one. Of an address, its password too. */
export function secretsIn(config: Config): string[] {
  return found(rootSetting, config).flatMap((secret) => [secret, ...passwordsOf(secret)])
}

function found(setting: Setting, value: unknown): string[] {
  if (setting.writeOnly) return typeof value === 'string' && value !== '' ? [value] : []
  if (Array.isArray(value)) return value.flatMap((item) => found(setting.items ?? {}, item))
  if (typeof value !== 'object' || value === null) return []

  const free = freeEntries(setting)
  const children = new Map(namedSettings(setting))
  return Object.entries(value).flatMap(([key, child]) =>
    found(free?.each ?? children.get(key) ?? {}, child),
  )
}

function passwordsOf(secret: string): string[] {
  const password = /^[a-z+]+:\/\/[^/@]*?:([^/@]+)@/.exec(secret)?.[1]
  if (password === undefined) return []
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}
