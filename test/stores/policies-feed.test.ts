import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Fault } from '../../src/kernel/errors.ts'
import { createLivePolicies } from '../../src/policy/live.ts'
import { createPolicyFeed, type FeedParts } from '../../src/stores/policies/policy-feed.ts'
import type { Known, Offer, PolicySource } from '../../src/stores/policies/policy-source.ts'
import { documentOf } from '../support/policy-files.ts'
import { until } from '../support/until.ts'

const offerOf = (rule: string, sequence: number): Offer => ({ ...documentOf([rule]), sequence })
const first = offerOf('clerk, /first, GET', 1)
const second = offerOf('clerk, /second, GET', 2)

/** A source that has what it is told to have. */
function createSource(offer: Offer | Error) {
  const state = { offer, reads: 0, hint: () => {}, hold: Promise.resolve() }
  const source: PolicySource = {
    name: 'redis',
    async read(known) {
      state.reads++
      const { offer } = state
      await state.hold
      if (offer instanceof Error) throw offer
      return offer.sequence === known?.sequence ? undefined : offer
    },
    watch(onHint) {
      state.hint = onHint
    },
    check: async () => {},
    close: async () => {},
  }
  return { source, state }
}

function startFeed(source: PolicySource, parts: Partial<FeedParts> = {}) {
  const lines: string[] = []
  const log = {
    info: (_: object, text: string) => void lines.push(text),
    warn: (fields: object, text: string) => void lines.push(`${text} ${JSON.stringify(fields)}`),
  }
  const live = createLivePolicies()
  const feed = createPolicyFeed({ source, live, log, pollMs: 20, ...parts })
  onTestFinished(feed.close)
  return { feed, lines }
}

describe('a policy feed', () => {
  test('compiles a policy that it found bad only once, and counts every attempt', async () => {
    let readings = 0
    const bad: Offer = {
      ...first,
      get files() {
        readings++
        return [{ name: 'policy.csv', text: 'p, clerk\n' }]
      },
    }
    const { source } = createSource(bad)
    const { feed, lines } = startFeed(source)

    await feed.start()
    await until(() => feed.state().reloads.failed > 4)

    expect(readings).toBeLessThanOrEqual(feed.state().reloads.failed + 1)
    expect(feed.state()).toMatchObject({ stale: true, lastError: expect.stringContaining('model') })
    expect(lines.filter((line) => line.includes('policy update rejected'))).toHaveLength(1)
  })

  test('reads once at a time, and once more when told while it reads', async () => {
    const { source, state } = createSource(first)
    const { feed } = startFeed(source, { pollMs: 60_000 })
    await feed.start()
    const held = Promise.withResolvers<void>()
    state.hold = held.promise

    state.hint()
    const before = state.reads
    for (let times = 0; times < 100; times++) state.hint()
    state.offer = second
    held.resolve()

    await until(() => feed.state().revision === second.revision)
    expect(state.reads).toBe(before + 1)
  })

  test('closes in the middle of a policy that a thread is taking in, without a word', async () => {
    const { source, state } = createSource(first)
    let isAsked = false
    const read: PolicySource['read'] = async (known, signal) => {
      if (state.offer === first) return source.read(known)
      const { promise, reject } = Promise.withResolvers<never>()
      signal?.addEventListener('abort', () => reject(signal.reason))
      isAsked = true
      const loading = { compiled: promise, snapshot: promise, end: () => {} }
      return { checksum: second.checksum, sequence: 2, loading }
    }
    const { feed, lines } = startFeed({ ...source, read }, { pollMs: 60_000 })
    await feed.start()
    state.offer = second
    state.hint()
    await until(() => isAsked)

    await feed.close()

    expect(feed.state()).toMatchObject({ revision: first.revision, stale: false })
    expect(lines).toEqual(['policy loaded'])
  })

  test('refuses a policy that is not the revision it claims to be', async () => {
    const { source } = createSource({ ...second, revision: first.revision ?? '' })
    const { feed } = startFeed(source)

    await feed.start()

    expect(() => feed.current()).toThrow(expect.objectContaining({ part: 'policies' }))
    expect(feed.problem()).toContain(first.revision)
  })

  test('never goes back to a lower sequence, whatever the source offers', async () => {
    const { source, state } = createSource(second)
    const { feed } = startFeed(source)
    await feed.start()

    state.offer = first
    await until(() => feed.state().stale)

    expect(feed.current().revision).toBe(second.revision)
  })

  test('stays confirmed when its snapshot is lost and Redis has the policy under an earlier move', async () => {
    const { source, state } = createSource({ ...first, sequence: 2 })
    const written: (number | undefined)[] = []
    const snapshot = {
      read: async () => undefined,
      write: (offer: Known) => void written.push(offer.sequence),
      confirm() {},
      isLost: () => true,
      state: () => ({ file: '', current: false, failures: 0, lastError: undefined }),
      close: async () => {},
    }
    const { feed, lines } = startFeed(source, { snapshot })
    await feed.start()

    state.offer = first
    await until(() => written.includes(1) || feed.state().stale)

    expect(feed.state()).toMatchObject({ stale: false, sequence: 2 })
    expect(lines).toEqual(['policy loaded'])
  })

  test('closes once its source has confirmed nothing for maxAge, and opens when it does', async () => {
    const { source, state } = createSource(first)
    const { feed } = startFeed(source, { maxAgeMs: 200 })
    await feed.start()
    await pause(300)
    expect(feed.problem()).toBe(undefined)

    state.offer = new Fault('redis', { reason: 'away' })

    await until(() => feed.problem() !== undefined)
    expect(() => feed.current()).toThrow(expect.objectContaining({ part: 'policies' }))
    state.offer = first
    await until(() => feed.problem() === undefined)
    expect(feed.current().revision).toBe(first.revision)
  })

  test('closes after maxAge also when the clock is set back meanwhile', async () => {
    const { source, state } = createSource(first)
    const { feed } = startFeed(source, { maxAgeMs: 200 })
    await feed.start()
    state.offer = new Fault('redis', { reason: 'away' })

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    onTestFinished(() => void vi.useRealTimers())

    await until(() => feed.problem() !== undefined)
    expect(() => feed.current()).toThrow(expect.objectContaining({ part: 'policies' }))
  })

  test('closes after maxAge on a snapshot that claims to be of tomorrow', async () => {
    const { source } = createSource(new Fault('redis', { reason: 'away' }))
    const confirmedAt = Date.now() + 86_400_000
    const read = async () => ({ offer: first, confirmedAt })
    const state = () => ({ file: '', current: true, failures: 0, lastError: undefined })
    const isLost = () => false
    const snapshot = { read, write() {}, confirm() {}, isLost, state, close: async () => {} }
    const { feed } = startFeed(source, { maxAgeMs: 200, snapshot })

    await feed.start()

    expect(feed.current().revision).toBe(first.revision)
    await until(() => feed.problem() !== undefined)
  })

  test('stays on its last good policy for ever without maxAge', async () => {
    const { source, state } = createSource(first)
    const { feed } = startFeed(source)
    await feed.start()

    state.offer = new Fault('redis', { reason: 'away' })
    await until(() => feed.state().reloads.failed > 10)

    expect(feed.current().revision).toBe(first.revision)
    expect(feed.problem()).toBe(undefined)
  })

  test('survives a mistake of ours in reading', async () => {
    const { source, state } = createSource(first)
    const { feed } = startFeed(source)
    await feed.start()

    state.offer = new TypeError('x is not a function')
    await until(() => feed.state().stale)
    state.offer = second

    await until(() => feed.state().revision === second.revision)
  })
})
