interface Schema {
  readonly title?: string
  readonly [keyword: string]: unknown
}

/** The schemas of a document, each under one name. */
export interface Schemas {
  /** Adds a schema, and returns what refers to it. Parts with a title are schemas of their own. */
  readonly refer: (schema: object, name: string) => object
  readonly all: () => object
}

export function createSchemas(): Schemas {
  const named = new Map<string, object>()

  function refer(schema: object, name: string): object {
    const { title: _, ...own } = schema as Schema
    const found = parts(own) as object
    const before = named.get(name)
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(found)) {
      throw new Error(`two schemas have the title ${name}`)
    }
    named.set(name, found)
    return { $ref: `#/components/schemas/${name}` }
  }

  /** The same with references in place of the parts that have a title. */
  function parts(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(part)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([keyword, each]) => [
        keyword,
        keyword === 'properties' ? members(each) : part(each),
      ]),
    )
  }

  /** Members may be named `title`, too. */
  function members(properties: object): object {
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, part(schema)]),
    )
  }

  function part(schema: unknown): unknown {
    const { title } = Object(schema) as Schema
    return typeof title === 'string' ? refer(schema as object, title) : parts(schema)
  }

  return {
    refer,
    all: () => Object.fromEntries([...named].toSorted(([one], [two]) => (one < two ? -1 : 1))),
  }
}
