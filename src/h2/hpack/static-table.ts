import table from './static-table.json' with { type: 'json' }

/** RFC 7541 A: names and values at the indexes 1 to 61. */
export const staticFields = table.map(([name = '', value = '']) => [name, value] as const)
