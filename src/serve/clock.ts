/** Seconds since the epoch. */
export function clock(): number {
  return Date.now() / 1000
}
