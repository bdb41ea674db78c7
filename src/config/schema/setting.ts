import { configSchema } from './schema.ts'

/** One node of the configuration schema, as JSON Schema. */
export interface Setting {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly writeOnly?: boolean
  /** Whether a reload applies it, with all that it contains. */
  readonly reloads?: boolean
  /** The path of a file or a directory. */
  readonly isPath?: boolean
  /** Of `isPath`: values that match are something else. */
  readonly noPath?: string
  readonly enum?: readonly (string | number)[]
  readonly const?: string | boolean
  /** The value must match one of these. */
  readonly anyOf?: readonly Setting[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly items?: Setting
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly required?: readonly string[] | undefined
  readonly properties?: Readonly<Record<string, Setting>>
  readonly patternProperties?: Readonly<Record<string, Setting>>
}

export const rootSetting: Setting = configSchema

/** The named settings of a section, in the order of the schema; empty for anything else. */
export function namedSettings(setting: Setting): readonly (readonly [string, Setting])[] {
  return Object.entries(setting.properties ?? formFor(setting, 'object')?.properties ?? {})
}

/** The form of this type, of a setting with several forms. */
export function formFor(setting: Setting, type: 'array' | 'object'): Setting | undefined {
  return setting.anyOf?.find((form) => form.type === type)
}

/** For a mapping whose keys users choose, such as `upstreams`: their pattern and their schema. */
export function patternEntries(setting: Setting): { pattern: RegExp; schema: Setting } | undefined {
  const [entry] = Object.entries(setting.patternProperties ?? {})
  return entry && { pattern: new RegExp(entry[0]), schema: entry[1] }
}

/** What a setting with several forms means for this value: the form of its kind. */
export function settingFor(setting: Setting, value: unknown): Setting {
  const { anyOf } = setting
  if (anyOf === undefined) return setting
  return anyOf.find((one) => isFormOf(one, value)) ?? {}
}

function isFormOf({ type }: Setting, value: unknown): boolean {
  if (Array.isArray(value)) return type === 'array'
  if (typeof value === 'number') return type === 'number' || type === 'integer'
  return type === typeof value
}

/** The path of a setting, such as `application.port` or `routes[0].path`. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}

/** The paths of all settings with a fixed name, each section before its settings. */
export function settingPaths(setting: Setting = rootSetting, path = ''): readonly string[] {
  return namedSettings(setting).flatMap(([key, child]) => {
    const childPath = joinPath(path, key)
    return [childPath, ...settingPaths(child, childPath)]
  })
}
