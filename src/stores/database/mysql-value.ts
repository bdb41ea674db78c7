interface Field {
  readonly type: string
  readonly length: number
}

const integers = new Set(['TINY', 'SHORT', 'LONG', 'LONGLONG'])

/**
 * Reads an integer of one digit as what it is: MySQL's boolean columns and conditions. The text "0" of
 * a condition would be true.
 */
export function toValue(field: Field & { string(): string | null }, next: () => unknown): unknown {
  if (field.length !== 1 || !integers.has(field.type)) return next()
  const text = field.string()
  return text === null ? null : text !== '0'
}
