/** The part of a long list of items of equal size that is on the screen, and a few beyond its edges. */
export interface Window {
  readonly from: number
  /** Not included. */
  readonly to: number
}

export function windowOf(
  offset: number,
  extent: number,
  { size, count, beyond = 4 }: { size: number; count: number; beyond?: number },
): Window {
  const first = Math.floor(Math.max(0, offset) / size)
  const last = Math.ceil((Math.max(0, offset) + Math.max(0, extent)) / size)
  return {
    from: Math.min(count, Math.max(0, first - beyond)),
    to: Math.min(count, Math.max(0, last + beyond)),
  }
}

/** The offset that brings an item into view with the least movement. */
export function revealOffset(index: number, offset: number, extent: number, size: number): number {
  const start = index * size
  if (start < offset) return start
  return start + size > offset + extent ? start + size - extent : offset
}
