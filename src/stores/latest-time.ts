/** ECMA-262, Time Values: later times, in milliseconds, are not valid dates. Redis may contain any number. */
export const latestTime = 8.64e15

/**
 * Whether a number can be the sequence of a move or a shadow, which is a time in milliseconds. Scripts do not
 * count a larger one, so the next move would get a lower one and never be newer.
 */
export function isSequence(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) < latestTime
}
