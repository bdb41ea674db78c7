/**
 * Tokens that ended before their time, held in memory: asking costs one look-up and no store.
 * An entry lives as long as the token it names would have, so the list is bounded by the tokens
 * that people end early within one token lifetime.
 */
export interface Revocations {
  isRevoked(tokenId: string): boolean
  /** `until` is the token's own expiry, in seconds since the epoch. */
  revoke(tokenId: string, until: number): void
  size(): number
}

/** `now` gives seconds since the epoch. */
export function createRevocations(now: () => number): Revocations {
  const until = new Map<string, number>()
  let nextSweep = 0

  function sweep(at: number): void {
    if (at < nextSweep) return
    nextSweep = at + 60
    for (const [tokenId, end] of until) if (end <= at) until.delete(tokenId)
  }

  return {
    isRevoked: (tokenId) => until.has(tokenId),
    revoke(tokenId, end) {
      sweep(now())
      until.set(tokenId, end)
    },
    size: () => until.size,
  }
}
