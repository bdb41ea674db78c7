import type { Target } from './target.ts'

interface BalanceSettings {
  readonly balance: 'round-robin' | 'least-outstanding'
  /** The most requests that may wait for one target. */
  readonly maxWaiting: number
  /** The most upgraded connections to one target. */
  readonly tunnels: number
}

interface FindOptions {
  readonly tried?: ReadonlySet<Target> | undefined
  /** Chooses the target that the client should stay with, if it is among these. */
  readonly stick?: Stick | undefined
}

export type Stick = (candidates: readonly Target[]) => Target | undefined

/**
 * Chooses among the targets that may get a request. Choosing by turns costs less than by weight, so
 * weights are compared only while they differ.
 */
export function createBalance(
  { balance, maxWaiting, tunnels }: BalanceSettings,
  now = () => performance.now(),
) {
  const isByTurns = balance === 'round-robin'
  /** What each target has gained and spent, for the smooth weighted round robin of nginx. */
  const credits = new WeakMap<Target, number>()
  let unequalUntil = 0
  let turn = 0

  function isUnequal(): boolean {
    if (unequalUntil === 0 || now() < unequalUntil) return unequalUntil !== 0
    unequalUntil = 0
    return false
  }
  function bySmoothTurns(candidates: readonly Target[]): Target | undefined {
    let [total, most] = [0, Number.NEGATIVE_INFINITY]
    let best: Target | undefined
    for (const target of candidates) {
      const weight = target.weight * target.share()
      const credit = (credits.get(target) ?? 0) + weight
      credits.set(target, credit)
      total += weight
      if (credit > most) [best, most] = [target, credit]
    }
    if (best !== undefined) credits.set(best, most - total)
    return best
  }

  return {
    find(all: readonly Target[], asTunnel: boolean, { tried, stick }: FindOptions = {}) {
      // An open circuit does not refuse the last requests that can be sent.
      const useFree = !asTunnel && !all.some(isReachable)
      const mayReach = useFree ? hasFree : isReachable
      // If health checks and ejections rule out every target, they are more likely wrong than all targets.
      const useHealth = all.some((target) => isWell(target) && mayReach(target))
      const candidates: Target[] | undefined =
        stick !== undefined || (isByTurns && isUnequal()) ? [] : undefined
      const byWeight = !isByTurns && isUnequal()
      let best: Target | undefined
      let least = Number.POSITIVE_INFINITY
      turn = (turn + 1) % all.length
      for (let index = 0; index < all.length; index++) {
        const target = all[(turn + index) % all.length] as Target
        if (!mayReach(target) || tried?.has(target)) continue
        if (useHealth && !isWell(target)) continue
        if (target.waiting() >= maxWaiting) continue
        if (asTunnel && target.tunnels() >= tunnels) continue
        if (candidates !== undefined) candidates.push(target)
        else if (isByTurns) return target
        if (isByTurns) continue
        // One more, so that weights count between targets without requests too.
        const load = byWeight
          ? (target.outstanding() + 1) / (target.weight * target.share())
          : target.outstanding()
        if (load < least) [best, least] = [target, load]
      }
      if (candidates === undefined) return best
      return stick?.(candidates) ?? (isByTurns ? bySmoothTurns(candidates) : best)
    },
    /** Targets differ in their share until that time. */
    unequalUntil(time: number) {
      unequalUntil = Math.max(unequalUntil, time)
    },
  }
}

/** Whether a request may be sent that needs a new connection. */
function isReachable({ weight, breaker }: Target): boolean {
  return weight > 0 && breaker.allows()
}

function hasFree(target: Target): boolean {
  return target.weight > 0 && target.hasFree()
}

function isWell(target: Target): boolean {
  return target.isHealthy() && !target.outlier.isEjected()
}
