import { failureText } from '../../background/failure-text.ts'
import type { FeedLog } from '../../background/feed-log.ts'
import { createPolling } from '../../background/polling.ts'
import { createReloadStatus } from '../../background/reload-status.ts'
import { Fault } from '../../kernel/errors.ts'
import type { DomainSource } from '../../policy/domain.ts'
import type { CompiledPolicies } from '../../policy/engine/decision.ts'
import type { LivePolicies } from '../../policy/live.ts'
import { createConfirmation } from '../feed/confirmation.ts'
import type { Known, LargeOffer, Offer, PolicySnapshot, PolicySource } from './policy-source.ts'
import { createPrepare } from './prepare-offer.ts'
import type { TrustGate } from './trust-gate.ts'

/**
 * Loads what a source has and makes it active. Its states:
 *
 * - waiting: no policy is active. `current` throws, `problem` says why. Left by the first policy
 *   that can be used, from the source or, when that does not answer, from what was kept on disk.
 * - confirmed: the source said at the last attempt that the active policy is the newest.
 * - stale: the last attempt failed: the source is unreachable, has nothing, has
 *   something older, or something unusable. The active policy stays active. Left by an
 *   attempt that succeeds.
 * - expired: stale for longer than `maxAgeMs`, when that is set. `current` throws. Left likewise.
 */
export type PolicyFeed = ReturnType<typeof createPolicyFeed>

/** What operators see of the policies. */
export type PolicyState = ReturnType<PolicyFeed['state']>

export interface FeedParts {
  readonly source: PolicySource
  readonly live: LivePolicies
  readonly log: FeedLog
  readonly pollMs: number
  readonly maxAgeMs?: number | undefined
  readonly snapshot?: PolicySnapshot | undefined
  /** Where the domain of a request comes from; unset: a model with a domain is rejected. */
  readonly domain?: DomainSource | undefined
  /** What the source and the snapshot verify signatures with, for `state`. */
  readonly gate?: TrustGate | undefined
  /** Called when what `state` says may have changed. */
  readonly onChange?: () => void
  /** A new policy is active, so many seconds after it was published. */
  readonly onPropagated?: ((seconds: number) => void) | undefined
}

export function createPolicyFeed(parts: FeedParts) {
  const { source, live, log, maxAgeMs, snapshot, gate, onChange = () => {} } = parts
  const closing = new AbortController()
  const prepare = createPrepare(closing.signal, parts.domain)
  const polling = createPolling(attempt, parts.pollMs)
  const reloads = createReloadStatus((reason) => {
    const fields = { reason, revision: live.revision(), ageSeconds: ageSeconds() }
    log.warn(fields, 'policy update rejected; keeping the last good revision')
  })
  let known: Known | undefined
  let kept: Offer | undefined
  let active: CompiledPolicies | undefined
  const confirmed = createConfirmation()

  async function attempt(): Promise<'unanswered' | undefined> {
    let outcome: 'unanswered' | undefined
    try {
      const offer = await source.read(wanted(), closing.signal)
      if (offer !== undefined && isKnown(offer)) snapshot?.write(offer)
      else if (offer !== undefined) {
        const isFirst = live.revision() === undefined
        await take(offer)
        if (!isFirst) tellDelay(offer)
        snapshot?.write(offer)
      } else if (kept !== undefined) await take(kept)
      succeeded()
    } catch (error) {
      if (closing.signal.aborted) return undefined
      reloads.failed(error)
      if (error instanceof Fault && error.part === 'redis') outcome = 'unanswered'
    }
    onChange()
    await source.check()
    return outcome
  }

  /** Without its sequence, what is known counts as old: the source gives all of it again. */
  function wanted(): Known | undefined {
    if (known === undefined || !snapshot?.isLost()) return known
    const { sequence: _, ...rest } = known
    return rest
  }

  /** What is active, also under an earlier move: a failover can lose the later one. */
  function isKnown({ checksum, revision, sequence, verified }: Known): boolean {
    if (known?.checksum !== checksum || known.revision !== revision) return false
    if (known.verified !== verified) return false
    return (sequence ?? 0) <= (known.sequence ?? 0)
  }

  async function take(offer: Offer | LargeOffer): Promise<void> {
    const compiled = await prepare(offer)
    const { checksum, sequence, verified } = offer
    const { revision } = compiled
    const previous = live.revision()
    // The source has compared signed statements, whose order is another one.
    if (!live.swap(compiled, verified === undefined ? sequence : undefined)) {
      throw new Fault('policies', { reason: `${revision} is older than the active revision` })
    }
    active = compiled
    known = {
      ...{ checksum, revision },
      ...(sequence !== undefined && { sequence }),
      ...(verified !== undefined && { verified }),
    }
    kept = undefined
    reloads.loaded()
    const rules = compiled.ruleCount
    // A slip in the model can move a policy to the engine that is slower by orders of magnitude.
    const engine = compiled.engine.name
    const { signers = [], statement } = verified ?? {}
    // Without a signature, the author is only what the publisher said.
    const who = { author: statement?.author ?? offer.author, signers }
    const fields = { revision, previous, sequence, ...who, rules, engine, source: source.name }
    log.info(fields, 'policy loaded')
  }

  /** A sequence is when the head moved, by the clock of Redis, which need not be ours. */
  function tellDelay({ sequence }: Known): void {
    if (sequence !== undefined) parts.onPropagated?.(Math.max(0, Date.now() - sequence) / 1000)
  }

  function succeeded(): void {
    confirmed.confirm()
    snapshot?.confirm()
    if (reloads.succeeded()) {
      log.info({ revision: live.revision() }, 'policy source recovered')
    }
  }

  /** Serves on what was kept, and stays stale: the source has not confirmed it. */
  async function fallBack(offer: Offer): Promise<void> {
    try {
      await take(offer)
      log.warn({ ageSeconds: ageSeconds() }, 'started from the policy snapshot')
    } catch (error) {
      log.warn({ reason: failureText(error) }, 'policy snapshot rejected')
    }
    onChange()
  }

  function ageSeconds(): number | undefined {
    const age = confirmed.ageMs()
    return age === undefined ? undefined : Math.round(age / 1000)
  }

  function expired(): string | undefined {
    if (maxAgeMs === undefined || (confirmed.ageMs() ?? 0) <= maxAgeMs) return undefined
    return `policy last confirmed ${ageSeconds()} s ago, longer than policy.maxAge`
  }

  return {
    /** The policies to decide by, or a Fault. */
    current() {
      const reason = expired()
      if (reason !== undefined) throw new Fault('policies', { reason })
      return live.current()
    },
    state: () => ({
      source: source.name,
      revision: live.revision(),
      sequence: live.revision() === undefined ? undefined : known?.sequence,
      /** When this revision became active. */
      since: timeText(live.since()),
      /** Whether the source, when last asked, could not confirm that this is the newest. */
      stale: reloads.failure() !== undefined,
      /** When it last could. */
      confirmedAt: timeText(confirmed.at()),
      lastError: reloads.failure()?.text,
      rules: active?.ruleCount,
      engine: active?.engine.name,
      reloads: reloads.counts(),
      trust: gate && {
        required: gate.required,
        /** Who signed the active policy. */
        signers: known?.verified?.signers ?? [],
        /** How often what was found had to be rejected, by reason. */
        rejected: gate.rejected() as Readonly<Record<string, number>>,
      },
      /** The file that a restart without the source begins with, if one is configured. */
      snapshot: snapshot?.state(),
    }),
    /** The signed statement of the active policy, if any. */
    signed: () => (active === undefined ? undefined : known?.verified?.signed),
    /** Why no traffic should come here, if so. */
    problem() {
      if (live.revision() !== undefined) return expired()
      return `no policy is loaded: ${reloads.failure()?.text ?? 'not read yet'}`
    },
    /** The first attempt; then goes on by itself. Does not throw: `failure` has what went wrong. */
    async start() {
      const found = await snapshot?.read()
      if (found !== undefined) {
        kept = found.offer
        const { files: _, document: __, ...rest } = found.offer
        known = rest
        confirmed.confirm(found.confirmedAt)
      }
      source.watch(() => void polling.now())
      await polling.now()
      if (kept !== undefined) await fallBack(kept)
    },
    failure: () => reloads.failure()?.error,
    async close() {
      closing.abort()
      await polling.close()
      await source.close()
      await snapshot?.close()
    },
  }
}

function timeText(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}
