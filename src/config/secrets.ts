import { MASK } from '../kernel/quote.ts'
import type { Config } from './schema/schema.ts'
import {
  namedSettings,
  patternEntries,
  rootSetting,
  type Setting,
  settingFor,
} from './schema/setting.ts'

/** The configuration with every secret masked, in the order of the schema. */
export function redacted(config: Config): unknown {
  return masked(rootSetting, config)
}

function masked(given: Setting, value: unknown): unknown {
  const setting = settingFor(given, value)
  if (given.writeOnly || setting.writeOnly) return MASK
  if (Array.isArray(value)) return value.map((item) => masked(setting.items ?? {}, item))
  if (typeof value !== 'object' || value === null) return value

  const values = new Map<string, unknown>(Object.entries(value))
  const entries = patternEntries(setting)
  const known = entries
    ? [...values.keys()].map((key) => [key, entries.schema] as const)
    : namedSettings(setting)
  return Object.fromEntries(
    known.flatMap(([key, child]) => {
      if (!values.has(key)) return []
      const inside = masked(child, values.get(key))
      return [[key, key === 'requestHeaders' ? withoutHeaderValues(inside) : inside]]
    }),
  )
}

/**
 * Operators give services their API keys as request headers. Logs do not hide these values: one such as
 * `1` would hide much else.
 */
function withoutHeaderValues(edits: unknown): unknown {
  const { set, add, ...others } = edits as Record<'set' | 'add', object | undefined>
  const names = (values: object) =>
    Object.fromEntries(Object.keys(values).map((name) => [name, MASK]))
  return {
    ...(set !== undefined && { set: names(set) }),
    ...(add !== undefined && { add: names(add) }),
    ...others,
  }
}

/** Every secret of a configuration and the password of every secret URL, so that logs can hide them. */
export function secretsIn(config: Config): string[] {
  return found(rootSetting, config).flatMap((secret) => [secret, ...passwordsOf(secret)])
}

function found(given: Setting, value: unknown): string[] {
  const setting = settingFor(given, value)
  if (given.writeOnly || setting.writeOnly)
    return typeof value === 'string' && value !== '' ? [value] : []
  if (Array.isArray(value)) return value.flatMap((item) => found(setting.items ?? {}, item))
  if (typeof value !== 'object' || value === null) return []

  const entries = patternEntries(setting)
  const children = new Map(namedSettings(setting))
  return Object.entries(value).flatMap(([key, child]) =>
    found(entries?.schema ?? children.get(key) ?? {}, child),
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
