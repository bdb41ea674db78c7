import { rootSetting, type Setting } from './setting.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/**
 * The text of `config/schema.json`, by which editors check configuration files. It differs from the
 * schema in three respects: a setting with a default is optional, its description has the default, and
 * keywords of ours are left out.
 */
export function configJsonSchema(): string {
  const schema = { $schema: DIALECT, title: 'Postern configuration', ...asWritten(rootSetting) }
  return `${JSON.stringify(schema, undefined, 2)}\n`
}

function asWritten(setting: Setting): Setting {
  const { required, properties, patternProperties, items, anyOf, ...own } = setting
  const { isPath, noPath, reloads, ...rest } = own
  const needed = required?.filter((key) => properties?.[key]?.default === undefined) ?? []

  return {
    ...rest,
    ...(rest.description && { description: rest.description + defaultOf(rest) }),
    ...(needed.length > 0 && { required: needed }),
    ...(properties && { properties: eachAsWritten(properties) }),
    ...(patternProperties && { patternProperties: eachAsWritten(patternProperties) }),
    ...(items && { items: asWritten(items) }),
    ...(anyOf && { anyOf: anyOf.map(asWritten) }),
  }
}

function defaultOf({ default: value }: Setting): string {
  if (Array.isArray(value)) return ` Default: ${value.join(', ') || 'empty'}.`
  return value === undefined || typeof value === 'object' ? '' : ` Default: ${value}.`
}

function eachAsWritten(settings: Readonly<Record<string, Setting>>) {
  return Object.fromEntries(Object.entries(settings).map(([key, it]) => [key, asWritten(it)]))
}
