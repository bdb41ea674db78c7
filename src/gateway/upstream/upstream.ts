import { Fault } from '../../kernel/errors.ts'
import type { Resolve } from './addresses.ts'
import { createBalance, type Stick } from './balance.ts'
import { createNameLookups, type LookupReports, type NameLookups } from './name-lookups.ts'
import { createRetryBudget, type RetryBudget } from './retry-budget.ts'
import { createSharedPools, type OpenPool } from './shared-pools.ts'
import { createShares, type Shares } from './shares.ts'
import { noRequests, type Tally } from './state/error-share.ts'
import type { Ejection } from './state/outlier.ts'
import { createTargetStates, type OpenState } from './state/target-state.ts'
import { createTarget, type Target, type TargetSettings } from './target.ts'
import { createTargetGroup } from './target-group.ts'

export interface UpstreamSettings extends TargetSettings {
  readonly targets: readonly (string | TargetSetting)[]
  /** The Host header for the upstream: `target`, `client` or a name. */
  readonly host: string
  /** Whether a connection may serve more than one request. */
  readonly keepAlive: boolean
  /** How much of a body is buffered before it occupies a connection. */
  readonly requestBufferBytes: number
  /** The most connections that one client may use, in percent. */
  readonly maxShare: number
  readonly balance: 'round-robin' | 'least-outstanding'
  /** How long a request may wait for a connection. */
  readonly queueTimeoutMs: number
  /** The most upgraded connections to one target. */
  readonly tunnels: number
  /** How often a request may be tried again on another target. */
  readonly retries: number
  /** How often names are resolved; 0: once for each connection. */
  readonly dnsSeconds: number
}

/** A target with a weight; a text alone has the weight 1. */
interface TargetSetting {
  readonly url: string
  readonly weight: number
}

/** What outlives the settings: a reload hands it to the next upstream with the same name. */
interface LastingParts {
  readonly lookups: NameLookups
  readonly openPool: OpenPool
  readonly openState: OpenState
  /** The addresses of the names of targets, as they were last resolved. */
  readonly addresses: Map<string, readonly string[]>
}

/** A business service with one or more targets. */
export interface Upstream {
  readonly name: string
  readonly settings: UpstreamSettings
  readonly shares: Shares
  readonly budget: RetryBudget
  /**
   * The target for a request, which may become a tunnel. Throws a Fault if every target is busy or
   * failing.
   */
  readonly choose: (asTunnel: boolean, stick?: Stick) => Target
  /** A target that is not in `tried`, if one is available. */
  readonly chooseAnother: (
    asTunnel: boolean,
    tried: ReadonlySet<Target>,
    stick?: Stick,
  ) => Target | undefined
  readonly targets: () => readonly Target[]
  readonly lasting: LastingParts
  /** How many lookups of the names of its targets have failed. */
  readonly lookupFailures: () => number
  /** Another one with its name replaces it, or none. Only requests in progress still use it. */
  readonly retire: () => void
  readonly close: () => void
}

/** What the log says about upstreams. */
export interface UpstreamReports extends LookupReports {
  readonly ejected?: (ejection: Ejection & { upstream: string; target: string }) => void
}

interface UpstreamOptions {
  /** Replaces the system's name lookup, for tests. */
  readonly resolve?: Resolve | undefined
  readonly reports?: UpstreamReports | undefined
  /** The one that it replaces: targets that both have keep connections, circuits, ejections and health. */
  readonly previous?: Upstream | undefined
}

/** Opens no connection before the first request. */
export function createUpstream(
  name: string,
  settings: UpstreamSettings,
  { resolve, reports, previous }: UpstreamOptions = {},
): Upstream {
  const lasting = previous?.lasting ?? openLasting(name, reports)
  const { lookups, openPool, openState, addresses } = lasting
  const most = settings.connections * 2
  const balance = createBalance({ ...settings, maxWaiting: most })
  const entries = settings.targets.map((one) =>
    typeof one === 'string' ? { url: one, weight: 1 } : one,
  )
  if (entries.some(({ weight }) => weight !== entries[0]?.weight)) {
    balance.unequalUntil(Number.POSITIVE_INFINITY)
  }
  for (const url of addresses.keys()) {
    if (!entries.some((entry) => entry.url === url)) addresses.delete(url)
  }
  const targetSettings = { ...settings, onLookup: lookups.ended, openPool, openState }
  const groups = entries.map(({ url, weight }) =>
    createTargetGroup(url, {
      createOne: (address, isMoved) =>
        createTarget(url, address, targetSettings, {
          weight,
          isMoved,
          mayEject,
          others: tallyOthers,
          onWarming: balance.unequalUntil,
          onEjected: (target, ejection) =>
            reports?.ejected?.({ upstream: name, target: target.name, ...ejection }),
        }),
      dnsSeconds: settings.dnsSeconds,
      known: addresses.get(url),
      onResolved: (found) => addresses.set(url, found),
      onLookup: lookups.ended,
      resolve,
    }),
  )
  let all = groups.flatMap(({ targets }) => targets())
  for (const group of groups) {
    group.onChange(() => {
      all = groups.flatMap(({ targets }) => targets())
    })
  }

  /** How many connections one client may use. */
  function maxShared(): number {
    if (settings.maxShare === 100) return Number.POSITIVE_INFINITY
    return Math.ceil((settings.connections * all.length * settings.maxShare) / 100)
  }
  /** How many targets may be ejected; the last one with a weight never. */
  function mayEject(): boolean {
    const used = all.filter(({ weight }) => weight > 0)
    const ejected = used.filter(({ outlier }) => outlier.isEjected()).length
    const most = Math.floor((used.length * (settings.outlier?.maxEjectedPercent ?? 0)) / 100)
    return ejected + 1 <= Math.min(most, used.length - 1)
  }
  function tallyOthers(target: Target, interval: number): Tally {
    const sum = { ...noRequests }
    for (const other of all) {
      if (other === target || other.outlier.isEjected()) continue
      const tally = other.outlier.tally(interval)
      sum.requests += tally.requests
      sum.failures += tally.failures
      sum.callers += tally.callers
      sum.failing += tally.failing
    }
    return sum
  }
  const find: Upstream['chooseAnother'] = (asTunnel, tried, stick) =>
    balance.find(all, asTunnel, { tried, stick })
  function choose(asTunnel: boolean, stick?: Stick): Target {
    const found = balance.find(all, asTunnel, { stick })
    if (found !== undefined) return found
    if (all.some(({ weight, breaker }) => weight > 0 && breaker.allows()))
      throw new Fault('upstream-busy')
    throw new Fault('upstream-failing', { reason: whyFailing(all) })
  }

  return {
    name,
    settings,
    shares: createShares(maxShared, () => most * all.length - maxShared()),
    budget: createRetryBudget(),
    choose,
    chooseAnother: find,
    targets: () => all,
    lasting,
    lookupFailures: lookups.failures,
    retire() {
      for (const group of groups) group.retire()
    },
    close() {
      for (const group of groups) group.close()
    },
  }
}

function openLasting(name: string, reports: UpstreamReports | undefined): LastingParts {
  return {
    lookups: createNameLookups(name, reports),
    openPool: createSharedPools(),
    openState: createTargetStates(),
    addresses: new Map(),
  }
}

/** The most targets that a reason names: an upstream may have hundreds. */
const maxNamed = 3

function whyFailing(targets: readonly Target[]): string {
  const named = targets
    .slice(0, maxNamed)
    .map((target) => `${target.name}: ${target.lastError()?.message ?? 'unknown'}`)
  const more = targets.length - named.length
  return `no target accepts connections: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}
