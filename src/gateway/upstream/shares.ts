import { Fault } from '../../kernel/errors.ts'

/** Begins a waiting request. Returns `false` if it failed at once and does not hold its share. */
type Begin = () => boolean

/** The connections to an upstream that one client uses. */
export interface Share {
  readonly who: string
  /** Requests that have a connection, or wait for one in the pool. */
  held: number
  /** Waiting requests, in the order they arrived. */
  readonly line: Begin[]
}

/** The connections to an upstream, shared among its clients. */
export type Shares = ReturnType<typeof createShares>

/**
 * Keeps one client from occupying an upstream. Requests beyond its share wait in a queue of their own,
 * so that other clients lose neither a connection nor a place in the queue of the pool.
 */
export function createShares(most: () => number, maxWaiting: () => number) {
  const all = new Map<string, Share>()

  function forget(share: Share): void {
    if (share.held === 0 && share.line.length === 0) all.delete(share.who)
  }

  return {
    of(who: string) {
      let share = all.get(who)
      if (share === undefined) {
        share = { who, held: 0, line: [] }
        all.set(who, share)
      }
      return share
    },
    /** Returns `false` if the share is used up: the request must wait. */
    hold(share: Share) {
      if (share.held >= most()) return false
      share.held++
      return true
    },
    /**
     * Calls `begin`, with the share held, when it is its turn. Returns `false` if too many wait.
     */
    wait(share: Share, begin: Begin) {
      if (share.line.length >= maxWaiting()) return false
      share.line.push(begin)
      return true
    },
    /** Ends the wait. */
    leave(share: Share, begin: Begin) {
      const at = share.line.indexOf(begin)
      if (at !== -1) share.line.splice(at, 1)
      forget(share)
    },
    /** A request that held the share has ended. */
    release(share: Share) {
      // Passed on directly: a new request must not overtake those that wait.
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
  /** Called with the share held. */
  readonly begin: Begin
  /** Too many wait, or it took too long. */
  readonly giveUp: (fault: Fault) => void
}

/** Waits until a share has room. The function it returns ends the wait. */
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
