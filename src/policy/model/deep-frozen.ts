/** Freezes a value and all that it consists of. */
export function deepFrozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object') deepFrozen(part)
  return Object.freeze(value)
}
