/** The value of a JSON text, or `undefined` when it is invalid. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether this is an object, and not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether this is an object that has text under each of these names. */
export function hasStrings(
  value: unknown,
  names: readonly string[],
): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'string')
}
