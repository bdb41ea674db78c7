import { rootSetting, type Setting } from './setting.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/**
 * The text of `config/schema.json`: what an editor may expect in a configuration file. It differs
 * from the schema in one respect: a setting with a default may be left out.
 */
export function configJsonSchema(): string {
  const schema = { $schema: DIALECT, title: 'Postern configuration', ...asWritten(rootSetting) }
  return `${JSON.stringify(schema, undefined, 2)}\n`
}

function asWritten(setting: Setting): Setting {
  const { required, properties, patternProperties, items, ...rest } = setting
  const needed = required?.filter((key) => properties?.[key]?.default === undefined) ?? []

  return {
    ...rest,
    ...(needed.length > 0 && { required: needed }),
    ...(properties && { properties: eachAsWritten(properties) }),
    ...(patternProperties && { patternProperties: eachAsWritten(patternProperties) }),
    ...(items && { items: asWritten(items) }),
  }
}

function eachAsWritten(settings: Readonly<Record<string, Setting>>) {
  return Object.fromEntries(Object.entries(settings).map(([key, it]) => [key, asWritten(it)]))
}
