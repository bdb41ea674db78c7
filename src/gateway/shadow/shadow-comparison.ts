import type { MetricRegistry } from '../../metrics/registry.ts'
import { type Decision, decide } from '../../policy/decide.ts'
import type { CompiledPolicies } from '../../policy/engine/decision.ts'
import { bounds, type Evidence, noCounts, type ShadowCounts } from '../../policy/shadow/evidence.ts'
import { questionOf } from '../question.ts'
import type { Identified } from '../stages.ts'
import { Disagreements, type SampleShowing } from './disagreements.ts'

interface ComparisonParts {
  readonly showing: SampleShowing
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

interface Running {
  readonly policies: CompiledPolicies
  readonly counts: Counts
}

interface Counts {
  readonly sequence: number
  evaluated: number
  wouldDeny: number
  wouldAllow: number
  failed: number
  live: string | undefined
  readonly against: Set<string>
  readonly disagreements: Disagreements
}

/** The requests of this process, over all shadows, by what the shadow said. */
interface ShadowTotals {
  readonly same: number
  readonly wouldDeny: number
  readonly wouldAllow: number
  readonly failed: number
}

/**
 * Asks a shadow policy about every request that the live policy decides, and counts where the two
 * differ. Enforces nothing and never throws. Two states:
 *
 * - off: `observe` returns at once.
 * - on: between `start` and `stop`. A start with the sequence of the last one goes on counting: Redis
 *   may have lost and regained the shadow meanwhile. Another sequence begins at 0.
 */
export class ShadowComparison {
  readonly #parts: ComparisonParts
  #running: Running | undefined
  #counts: Counts | undefined
  #earlier: ShadowTotals = { same: 0, wouldDeny: 0, wouldAllow: 0, failed: 0 }

  constructor(parts: ComparisonParts) {
    this.#parts = parts
  }

  /** The observer of `authorize`. */
  readonly observe = (identified: Identified, live: Decision): void => {
    const running = this.#running
    if (running !== undefined) compare(running, identified, live)
  }

  start(policies: CompiledPolicies, sequence: number): void {
    if (this.#counts?.sequence !== sequence) {
      this.#earlier = this.totals()
      this.#counts = this.#fresh(sequence)
    }
    this.#running = { policies, counts: this.#counts as Counts }
  }

  stop(): void {
    this.#running = undefined
  }

  /** What was counted about the shadow with this sequence: nothing, unless it was the last one. */
  counts(sequence = this.#counts?.sequence): ShadowCounts {
    if (this.#counts === undefined || this.#counts.sequence !== sequence) return noCounts
    const { evaluated, wouldDeny, wouldAllow, failed } = this.#counts
    return { evaluated, wouldDeny, wouldAllow, failed }
  }

  evidence(sequence = this.#counts?.sequence): Evidence {
    const own = this.#counts?.sequence === sequence ? this.#counts : undefined
    return {
      ...this.counts(sequence),
      against: [...(own?.against ?? [])].slice(-bounds.against),
      disagreements: own?.disagreements.list() ?? [],
    }
  }

  totals(): ShadowTotals {
    const { evaluated, wouldDeny, wouldAllow, failed } = this.counts()
    const earlier = this.#earlier
    return {
      same: earlier.same + evaluated - wouldDeny - wouldAllow,
      wouldDeny: earlier.wouldDeny + wouldDeny,
      wouldAllow: earlier.wouldAllow + wouldAllow,
      failed: earlier.failed + failed,
    }
  }

  #fresh(sequence: number): Counts {
    const { showing, now = Date.now } = this.#parts
    return {
      ...{ ...noCounts, sequence, live: undefined },
      against: new Set(),
      disagreements: new Disagreements(showing, now),
    }
  }
}

function compare({ policies, counts }: Running, identified: Identified, live: Decision): void {
  const { received, token } = identified
  const { arrival } = received
  let shadow: Decision
  try {
    shadow = decide(questionOf(received, token), policies)
  } catch {
    counts.failed++
    return
  }
  arrival.notes.shadow = shadow
  counts.evaluated++
  if (counts.live !== live.revision) noteLive(counts, live.revision)
  if (shadow.allowed === live.allowed) return
  if (shadow.allowed) counts.wouldAllow++
  else counts.wouldDeny++
  counts.disagreements.add(identified, live, shadow)
}

/** The set keeps the latest revisions, in the order in which they were last seen. */
function noteLive(counts: Counts, revision: string): void {
  counts.live = revision
  counts.against.delete(revision)
  counts.against.add(revision)
  const [oldest] = counts.against
  if (counts.against.size > bounds.against && oldest !== undefined) counts.against.delete(oldest)
}

interface CountedShadow {
  readonly revision: string
  /** Absent while it is not evaluated. */
  readonly since: string | undefined
}

/** Shows which shadow is evaluated, and how often it differs from the live policy. */
export function addShadowMetrics(
  registry: MetricRegistry,
  read: () => CountedShadow | undefined,
  totals: () => ReturnType<ShadowComparison['totals']>,
): void {
  registry.readGauge({
    name: 'postern_policy_shadow_active',
    help: '1 while this gateway evaluates the shadow policy, 0 while it cannot; absent without one.',
    labels: ['revision'],
    aggregate: 'min',
    read: () => {
      const shadow = read()
      if (shadow === undefined) return []
      const { revision, since } = shadow
      return [[since === undefined ? 0 : 1, revision]]
    },
  })
  registry.readCounter({
    name: 'postern_policy_shadow_decisions_total',
    help: 'Decisions that the shadow policy was asked about: same as the live one, would-deny, would-allow, or failed.',
    labels: ['result'],
    read: () => {
      const { same, wouldDeny, wouldAllow, failed } = totals()
      return [
        [same, 'same'],
        [wouldDeny, 'would-deny'],
        [wouldAllow, 'would-allow'],
        [failed, 'failed'],
      ]
    },
  })
}
