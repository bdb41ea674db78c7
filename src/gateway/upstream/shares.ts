import { Fault } from '../../errors.ts'

/** Begins a request whose turn it is. Gives `false` when it failed at once, and holds nothing. */
type Begin = () => boolean

/** What one client has of the connections to an upstream. */
export interface Share {
  readonly who: string
  /** Requests that have, or wait in the pool for, a connection. */
  held: number
  /** What begins each request that waits for one of those to end, in the order they came. */
  readonly line: Begin[]
}

/** The connections to an upstream, shared among its clients. */
export interface Shares {
  readonly of: (who: string) => Share
  /** Gives `false` when the share is used up: the request has to wait. */
  readonly hold: (share: Share) => boolean
  /** Calls `begin`, with the share held, when it is its turn. Gives `false` when too many wait. */
  readonly wait: (share: Share, begin: Begin) => boolean
  /** It no longer waits. */
  readonly leave: (share: Share, begin: Begin) => void
  /** A request that held the share has ended. */
  readonly release: (share: Share) => void
}

/**
 * Keeps one client from taking a whole upstream. Those that are beyond their share wait in a line of
 * their own, so that others neither lose a connection to them nor a place in the queue of the pool.
 */
export function createShares(most: () => number, maxWaiting: () => number): Shares {
  const all = new Map<string, Share>()

  function forget(share: Share): void {
    if (share.held === 0 && share.line.length === 0) all.delete(share.who)
  }

  return {
    of(who) {
      let share = all.get(who)
      if (share === undefined) {
        share = { who, held: 0, line: [] }
        all.set(who, share)
      }
      return share
    },
    hold(share) {
      if (share.held >= most()) return false
      share.held++
      return true
    },
    wait(share, begin) {
      if (share.line.length >= maxWaiting()) return false
      share.line.push(begin)
      return true
    },
    leave(share, begin) {
      const at = share.line.indexOf(begin)
      if (at !== -1) share.line.splice(at, 1)
      forget(share)
    },
    release(share) {
      // The place passes on: one that comes meanwhile must not get ahead of those that wait.
      while (share.held <= most()) {
        const next = share.line.shift()
        if (next === undefined) break
        if (next()) return
      }
      share.held--
      forget(share)
    },
  }
}

interface ShareWait {
  readonly withinMs: number
  /** The share is held. */
  readonly begin: Begin
  /** Too many wait, or it took too long. */
  readonly giveUp: (fault: Fault) => void
}

/** Waits for a place in a share that is used up. What it returns ends the wait. */
export function waitForShare(shares: Shares, share: Share, wait: ShareWait): () => void {
  const giveUp = () => {
    const reason = 'client has used its share of the connections'
    wait.giveUp(new Fault('upstream-share', { reason }))
  }
  const begin = () => {
    clearTimeout(timer)
    return wait.begin()
  }
  const timer = setTimeout(giveUp, wait.withinMs)
  if (!shares.wait(share, begin)) giveUp()
  return () => {
    clearTimeout(timer)
    shares.leave(share, begin)
  }
}
