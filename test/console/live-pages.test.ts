import { describe, expect, expectTypeOf, test } from 'vitest'
import type {
  DecisionBatch,
  Fleet,
  Replica,
  ReplicaFacts,
  TrafficPoint,
  WatchedDecision,
} from '#client'
import { attentionOf, firstToExpire } from '../../console/src/lib/live/attention.ts'
import {
  explanationOf,
  matches,
  noDecisions,
  withBatches,
} from '../../console/src/lib/live/decisions.ts'
import { formatDuration } from '../../console/src/lib/live/durations.ts'
import { createEventReader, type StreamEvent } from '../../console/src/lib/live/event-stream.ts'
import { pause, pauseAfter } from '../../console/src/lib/live/pauses.ts'
import { groupOf, outcomesOf, perMinute, withPoint } from '../../console/src/lib/live/traffic.ts'
import { readBatch, type DecisionBatch as SentBatch } from '../../src/fleet/decision-batch.ts'
import { outcomes } from '../../src/http/ended-request.ts'
import { faultEnvelopes, statusEnvelopes } from '../../src/http/envelope.ts'

function read(...chunks: readonly string[]) {
  const events: StreamEvent[] = []
  const retries: number[] = []
  const push = createEventReader({
    onEvent: (event) => events.push(event),
    onRetry: (ms) => retries.push(ms),
  })
  for (const chunk of chunks) push(chunk)
  return { events, retries }
}

describe('a stream of events', () => {
  const text = 'event: point\ndata: {"a":1}\n\ndata: x\n\n'
  const expected = [
    { type: 'point', data: '{"a":1}' },
    { type: 'message', data: 'x' },
  ]

  test('is the same wherever chunks end, and with each kind of line end', () => {
    for (const ends of [text, text.replaceAll('\n', '\r\n'), text.replaceAll('\n', '\r')]) {
      expect(read(ends).events).toEqual(expected)
      expect(read(...ends).events).toEqual(expected)
      for (let at = 0; at < ends.length; at++) {
        expect(read(ends.slice(0, at), ends.slice(at)).events).toEqual(expected)
      }
    }
  })

  test('joins lines of data, ignores comments, ids and unknown fields, and reads retry', () => {
    const { events, retries } = read(
      '\ufeff: still here\n\nid: 7\nother: x\ndata: a\ndata:  b\ndata\n: c\nretry: 250\nretry: x\n\n',
    )

    expect(events).toEqual([{ type: 'message', data: 'a\n b\n' }])
    expect(retries).toEqual([250])
  })

  test('has no event without data, and none that is not complete', () => {
    expect(read('event: point\n\n', 'data: later\n').events).toEqual([])
    expect(read('event: a\n\ndata: b\n\n').events).toEqual([{ type: 'message', data: 'b' }])
  })

  test('fails when an event never ends', () => {
    const line = `data: ${'x'.repeat(1_000_000)}\n`

    expect(() => read(line, line, line, line, line)).toThrow('too long')
    expect(() => read('x'.repeat(4_000_001))).toThrow('too long')
  })
})

describe('a pause before the next attempt', () => {
  test('doubles up to half a minute, and differs from page to page', () => {
    expect([1, 2, 3, 7, 60, 5000].map((failures) => pauseAfter(failures, 0.5))).toEqual([
      ...[500, 1000, 2000, 30_000, 30_000, 30_000],
    ])
    expect([pauseAfter(1, 0, 1000), pauseAfter(1, 1, 1000)]).toEqual([750, 1250])
  })

  test('ends with its signal', async () => {
    const controller = new AbortController()
    const paused = pause(3_600_000, controller.signal)
    controller.abort()
    await paused
    await pause(3_600_000, controller.signal)
  })
})

describe('requests per minute', () => {
  const points: readonly TrafficPoint[] = [
    { at: 1, outcomes: { passed: 5, 'not-permitted': 1 } },
    { at: 2, outcomes: { passed: 1 } },
    { at: 3 },
    { at: 4, outcomes: { 'token-expired': 2 } },
  ]

  test('are sums over the steps of a minute, with a gap where gateways did not answer', () => {
    expect(
      perMinute({ stepMs: 30_000, points }).map((sums) => sums && [sums.passed, sums.denied]),
    ).toEqual([[5, 1], [6, 1], undefined, [0, 0]])
    expect(perMinute({ stepMs: 10_000, points }).at(-1)).toMatchObject({
      passed: 6,
      denied: 1,
      unidentified: 2,
    })
  })

  test('know each outcome of a gateway: faults as failed, refusals not', () => {
    for (const fault of Object.keys(faultEnvelopes)) expect(groupOf(fault), fault).toBe('failed')
    for (const kind of Object.keys(statusEnvelopes)) expect(groupOf(kind), kind).not.toBe('failed')
    expect(outcomes.filter((each) => groupOf(each) === 'passed')).toEqual([
      'passed',
      'cut-by-client',
    ])
    expect(outcomesOf(points)[0]).toEqual({ outcome: 'passed', count: 6 })
  })

  test('are kept for an hour', () => {
    let history = { stepMs: 10_000, points }
    for (let at = 0; at < 400; at++) history = withPoint(history, { at })

    expect([history.points.length, history.points.at(-1)?.at]).toEqual([360, 399])
  })
})

const decision: WatchedDecision = {
  at: '2026-11-17T08:00:00Z',
  gateway: 'gw-1',
  method: 'GET',
  result: 'deny',
  reason: 'no-rule',
  step: 'none',
  path: '/Orders/7',
  role: 'clerk',
  revision: 'r-1',
}

describe('live decisions', () => {
  test('have every field that gateways send, and no other', () => {
    expectTypeOf<SentBatch>().toExtend<DecisionBatch>()
    const whole: Required<WatchedDecision> = {
      ...decision,
      ...{ path: '/orders/7', host: 'a.example', domain: 'a', role: 'clerk', user: '7' },
      ...{ rule: 'policy.csv:3', revision: 'r-1', request: 'q-1' },
    }

    expect(readBatch({ decisions: [whole], leftOut: 2 })).toEqual({
      decisions: [whole],
      leftOut: 2,
    })
  })

  test('are numbered as they arrive, newest first, and limited', () => {
    const batch = (count: number, leftOut: number) => ({
      decisions: Array.from({ length: count }, () => decision),
      leftOut,
    })
    const list = withBatches(withBatches(noDecisions, [batch(2, 1)]), [batch(1, 0), batch(3, 4)])
    const long = withBatches(
      list,
      Array.from({ length: 100 }, () => batch(25, 0)),
    )

    expect(list.decisions.map(({ number }) => number)).toEqual([6, 5, 4, 3, 2, 1])
    expect([list.seen, list.leftOut]).toEqual([6, 5])
    expect([long.decisions.length, long.seen, long.decisions[0]?.number]).toEqual([
      ...[1000, 2506, 2506],
    ])
  })

  test.each([
    [{}, true],
    [{ role: 'CLE', path: '/orders' }, true],
    [{ role: 'lead' }, false],
    [{ method: 'get', verdict: 'deny' }, true],
    [{ method: 'GE' }, false],
    [{ verdict: 'allow' }, false],
    [{ path: '/x' }, false],
  ])('match %o: %s', (filter, isMatch) => {
    expect(matches(decision, filter)).toBe(isMatch)
  })

  test('are explained by the policy that decided them, where their path is known', () => {
    const query = { role: 'clerk', method: 'GET', path: '/Orders/7' }
    const published = { revision: 'r-2', isPublished: true }

    expect(explanationOf(decision, { ...published, revision: 'r-1' })).toEqual(query)
    expect(explanationOf(decision, published)).toEqual({ ...query, revision: 'r-1' })
    // Files have no old revisions to ask.
    expect(explanationOf(decision, { ...published, isPublished: false })).toEqual(query)
    const { role: _, ...anonymous } = decision
    expect(explanationOf(anonymous, undefined)).toMatchObject({ anonymous: '1' })
    expect(explanationOf({ ...decision, path: 'aGFzaA' }, undefined)).toBeUndefined()
    expect(explanationOf({ ...decision, path: '/a…' }, undefined)).toBeUndefined()
  })
})

const now = Date.parse('2026-11-17T00:00:00Z')
const facts: ReplicaFacts = {
  startedAt: '2026-11-16T00:00:00Z',
  mode: 'prod',
  ready: true,
  configuration: { revision: 'c-1', since: '2026-11-16T00:00:00Z', rejected: false },
  keys: { signer: 'k-1', ids: ['k-1'], count: 1, since: '2026-11-16T00:00:00Z', rejected: false },
  certificate: { names: 'a.example', notAfter: '2027-02-01T00:00:00Z', rejected: false },
  upstreams: { targets: 1, out: 0, named: [] },
  outcomes: {},
}

function fleet(...replicas: readonly Partial<Replica>[]): Fleet {
  const all = replicas.map((each, at) => ({
    ...{ id: `gw-${at}`, state: 'current', revision: 'r-1', version: '1.0.0', ageSeconds: 1 },
    facts,
    ...each,
  })) as Replica[]
  const counts = { current: 0, behind: 0, stale: 0, lost: 0 }
  return { source: 'redis', revision: 'r-1', converged: true, counts, replicas: all }
}

const kinds = (answer: Fleet) => attentionOf(answer, now).map(({ kind }) => kind)

describe('what needs attention', () => {
  test('is nothing in a fleet that is well', () => {
    expect(kinds(fleet({}, {}))).toEqual([])
  })

  test('is everything that is wrong, errors first', () => {
    const bad: ReplicaFacts = {
      ...facts,
      ready: false,
      clock: { aheadMs: -7_200_000, withinMs: 3, source: 'Redis' },
      configuration: { revision: 'c-1', since: facts.startedAt, rejected: true },
      keys: { ...facts.keys, signer: null, rejected: true },
      certificate: { names: '', notAfter: '2026-11-20T00:00:00Z', rejected: true },
      upstreams: { targets: 2, out: 1, named: [] },
    }
    const found = kinds(
      fleet(
        { facts: bad, version: '0.9.0' },
        { state: 'lost' },
        { state: 'stale' },
        {
          state: 'behind',
        },
      ),
    )

    expect(found).toEqual([
      ...['lost', 'not-ready', 'no-signer', 'stale', 'behind', 'configuration-rejected'],
      ...['keys-rejected', 'certificate-rejected', 'certificate-expires', 'clock-offset'],
      ...['targets-out', 'versions'],
    ])
  })

  test('is a certificate that has expired, but nothing that a lost replica said', () => {
    const expired = {
      ...facts,
      certificate: { names: '', notAfter: '2026-11-16', rejected: false },
    }

    expect(kinds(fleet({ facts: expired }, {}))).toEqual(['certificate-expired'])
    expect(kinds(fleet({ facts: expired, state: 'lost' }, {}))).toEqual(['lost'])
    expect(firstToExpire(fleet({}, { facts: expired }).replicas)?.id).toBe('gw-1')
  })

  test('is a fleet without gateways or without a policy', () => {
    expect(kinds({ ...fleet(), revision: null })).toEqual(['unpublished', 'no-replicas'])
  })
})

describe('a duration', () => {
  test.each([
    ['en', 0.44, '0.4 sec'],
    ['en', 72, '1 min 12 sec'],
    ['en', 3600, '1 hr'],
    ['en', 273_700, '3 days 4 hr'],
    ['zh', 273_700, '3天 4小时'],
    ['en', -5, '0 sec'],
  ])('is written in %s, %d seconds as %s', (language, seconds, text) => {
    expect(formatDuration(language, seconds)).toBe(text)
  })
})
