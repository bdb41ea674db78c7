import { isRecord } from '../kernel/json.ts'
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
  const masked = replaceSecrets(config, () => MASK) as Config
  const routes = masked.routes.map((route) => {
    const { requestHeaders: edits } = route
    return edits === undefined ? route : { ...route, requestHeaders: withoutHeaderValues(edits) }
  })
  return { ...masked, routes }
}

/**
 * Operators give services their API keys as request headers. Logs do not hide these values: one such as
 * `1` would hide much else.
 */
function withoutHeaderValues(edits: NonNullable<Config['routes'][number]['requestHeaders']>) {
  const { set, add } = edits
  const names = (values: object) =>
    Object.fromEntries(Object.keys(values).map((name) => [name, MASK]))
  return { ...edits, ...(set && { set: names(set) }), ...(add && { add: names(add) }) }
}

/** Every secret of a configuration and the password of every secret URL, so that logs can hide them. */
export function secretsIn(config: Config): string[] {
  const secrets: string[] = []
  replaceSecrets(config, (value) => {
    if (typeof value === 'string' && value !== '') secrets.push(value, ...passwordsOf(value))
  })
  return secrets
}

/** A copy of a value of the schema, with every secret replaced. */
export function replaceSecrets(
  value: unknown,
  replace: (secret: unknown) => unknown,
  declared: Setting = rootSetting,
): unknown {
  const setting = settingFor(declared, value)
  if (declared.writeOnly || setting.writeOnly) return replace(value)
  const inside = (child: unknown, of: Setting = {}) => replaceSecrets(child, replace, of)
  if (Array.isArray(value)) return value.map((item) => inside(item, setting.items))
  if (!isRecord(value)) return value
  const named = new Map(namedSettings(setting))
  const ofEach = patternEntries(setting)?.schema
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, inside(child, named.get(key) ?? ofEach)]),
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
